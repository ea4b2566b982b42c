package load_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
)

func get(t *testing.T, cfg lab.ClientConfig) lab.Report {
	t.Helper()
	left := nothingLeft(t)
	r := load.Get(t.Context(), new(loopback), cfg)
	left()
	return r
}

func TestObjects(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		for _, size := range []int64{0, 1, 8192, 3_000_000} {
			for _, p := range lab.Protocols() {
				t.Run(fmt.Sprint(addr, size, p), func(t *testing.T) {
					s := serve(t, http.HandlerFunc(content), settings{addr: addr})
					r := get(t, s.config(t, p, 3, size))
					wantAll(t, r, 3, lab.OK)
					for _, q := range r.Requests {
						if q.Bytes != size || q.Status != 200 || q.Protocol != string(p) || q.Error != "" {
							t.Errorf("%+v", q)
						}
					}
					wantTimes(t, r, p)
				})
			}
		}
	}
}

func TestUpload(t *testing.T) {
	for _, p := range lab.Protocols() {
		for _, size := range []int64{0, 1, 3_000_000} {
			s := serve(t, http.HandlerFunc(content), settings{})
			cfg := s.config(t, p, 3, size)
			cfg.Load.Upload = true
			r := get(t, cfg)
			wantAll(t, r, 3, lab.OK)
			for _, q := range r.Requests {
				if q.Bytes != size || q.Status != 200 {
					t.Errorf("%s, %d bytes: %+v", p, size, q)
				}
			}
			wantTimes(t, r, p)
		}
	}
}

func TestConnections(t *testing.T) {
	for _, tc := range []struct {
		p           lab.Protocol
		n, objects  int
		connections int
	}{
		{lab.H1, 6, 20, 6}, {lab.H1, 1, 20, 1}, {lab.H1, 6, 2, 2},
		{lab.H2, 1, 20, 1}, {lab.H2, 3, 20, 3},
		{lab.H3, 1, 20, 1}, {lab.H3, 3, 20, 3},
	} {
		for _, warm := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.p, tc.n, tc.objects, warm), func(t *testing.T) {
				n := new(loopback)
				s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					// So that no connection does the work of all before the last is open.
					for end := time.Now().Add(10 * time.Second); int(n.done.Load()) < tc.connections && time.Now().Before(end); {
						time.Sleep(time.Millisecond)
					}
					content(w, r)
				}), settings{})
				cfg := s.config(t, tc.p, tc.objects, 5000)
				cfg.Connections, cfg.Load.Warm = tc.n, warm
				left := nothingLeft(t)
				r := load.Get(t.Context(), n, cfg)
				left()
				wantAll(t, r, tc.objects, lab.OK)
				if got := int(s.conn.Load()); got != tc.connections || r.Connections != tc.connections {
					t.Errorf("%d connections at the server, %d by the client's account", got, r.Connections)
				}
				sender, opened := cubic, 0
				if tc.p == lab.H3 {
					sender = reno
				}
				if want := slices.Repeat([]lab.Sender{sender}, tc.connections); !slices.Equal(r.Side.Senders, want) {
					t.Errorf("senders %+v", r.Side.Senders)
				}
				for _, q := range r.Requests {
					if q.AppConnect != nil {
						opened++
					}
				}
				if warm && opened != 0 || !warm && opened > tc.connections || !warm && opened == 0 {
					t.Errorf("%d requests have the time of an opening", opened)
				}
			})
		}
	}
}

// With HTTP/1.1 a connection carries one request at a time.
func TestNoPipelining(t *testing.T) {
	var mu sync.Mutex
	open, most := map[string]int{}, 0
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		open[r.RemoteAddr]++
		most = max(most, open[r.RemoteAddr])
		mu.Unlock()
		// So that no connection does the work of all before the last is open.
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			time.Sleep(2 * time.Millisecond)
			mu.Lock()
			opened := len(open)
			mu.Unlock()
			if opened == 6 {
				break
			}
		}
		content(w, r)
		mu.Lock()
		open[r.RemoteAddr]--
		mu.Unlock()
	}), settings{})
	wantAll(t, get(t, s.config(t, lab.H1, 30, 100)), 30, lab.OK)
	mu.Lock()
	defer mu.Unlock()
	if most != 1 || len(open) != 6 {
		t.Errorf("%d requests at once on one of %d connections", most, len(open))
	}
}

// With the others, all requests are under way at once.
func TestAllAtOnce(t *testing.T) {
	for _, p := range []lab.Protocol{lab.H2, lab.H3} {
		const n = 40
		var here atomic.Int32
		all := make(chan struct{})
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if here.Add(1) == n {
				close(all)
			}
			<-all
			content(w, r)
		}), settings{})
		wantAll(t, get(t, s.config(t, p, n, 100)), n, lab.OK)
	}
}

func TestWarm(t *testing.T) {
	for _, p := range lab.Protocols() {
		var paths sync.Map
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, _ := paths.LoadOrStore(r.URL.Path, new(atomic.Int32))
			n.(*atomic.Int32).Add(1)
			content(w, r)
		}), settings{})
		cfg := s.config(t, p, 8, 5000)
		cfg.Load.Warm, cfg.Connections = true, 2
		r := get(t, cfg)
		wantAll(t, r, 8, lab.OK)
		wantTimes(t, r, p)
		n, ok := paths.Load("/bytes/1")
		if !ok || n.(*atomic.Int32).Load() != 2 {
			t.Errorf("%s: not one tiny request on each connection", p)
		}
	}
}

func TestTLS12(t *testing.T) {
	for _, p := range lab.Protocols() {
		var version atomic.Uint32
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			version.Store(uint32(r.TLS.Version))
			content(w, r)
		}), settings{tls: tls.VersionTLS12})
		cfg := s.config(t, p, 2, 5000)
		cfg.TLS = "1.2"
		wantAll(t, get(t, cfg), 2, lab.OK)
		want := uint16(tls.VersionTLS12)
		if p == lab.H3 {
			want = tls.VersionTLS13
		}
		if got := uint16(version.Load()); got != want {
			t.Errorf("%s: %s", p, tls.VersionName(got))
		}
		if p == lab.H3 {
			continue
		}
		cfg.TLS = "1.3" // which this server does not have
		wantAll(t, get(t, cfg), 2, lab.Reset)
	}
}

func TestRequestHeader(t *testing.T) {
	for _, p := range lab.Protocols() {
		seen := make(chan *http.Request, 1)
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen <- r.Clone(context.Background())
			content(w, r)
		}), settings{})
		cfg := s.config(t, p, 1, 10)
		wantAll(t, get(t, cfg), 1, lab.OK)
		got := <-seen
		want := http.Header{"User-Agent": {"samewire/" + lab.Version}}
		if !maps.EqualFunc(got.Header, want, slices.Equal) {
			t.Errorf("%s: header %v", p, got.Header)
		}
		if want := net.JoinHostPort(lab.ServerName, fmt.Sprint(s.addr.Port())); got.Host != want {
			t.Errorf("%s: host %q, want %q", p, got.Host, want)
		}
	}
}

// The first byte counts from the request's start, and comes before the last.
func TestFirstByte(t *testing.T) {
	for _, p := range lab.Protocols() {
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(50 * time.Millisecond)
			w.Header().Set("Content-Length", "100")
			_, _ = io.Copy(w, &lab.ContentReader{Size: 50})
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Millisecond)
			var rest [50]byte
			lab.FillContent(rest[:], 50)
			_, _ = w.Write(rest[:])
		}), settings{})
		// A client that the processor keeps waiting is late for the first byte.
		for tries := 5; ; tries-- {
			r := get(t, s.config(t, p, 1, 100))
			wantAll(t, r, 1, lab.OK)
			q := r.Requests[0]
			rest := *q.Total - *q.StartTransfer
			if *q.StartTransfer < 0.05 || rest < 0.09 && tries == 1 {
				t.Errorf("%s: first byte after %v s, last after %v s", p, *q.StartTransfer, *q.Total)
			}
			if rest >= 0.09 || tries == 1 {
				break
			}
		}
	}
}

// A server that closes each connection costs a connection for each request.
func TestConnectionClose(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		content(w, r)
	}), settings{protos: []string{"http/1.1"}})
	cfg := s.config(t, lab.H1, 8, 5000)
	cfg.Connections = 2
	r := get(t, cfg)
	wantAll(t, r, 8, lab.OK)
	if r.Connections != 8 || s.conn.Load() != 8 {
		t.Errorf("%d connections, %d at the server", r.Connections, s.conn.Load())
	}
	for _, q := range r.Requests {
		if q.AppConnect == nil {
			t.Errorf("%+v", q)
		}
	}
}

func TestSide(t *testing.T) {
	h2, h3 := int64(4<<20), int64(6<<20)
	want := map[lab.Protocol]*int64{lab.H1: nil, lab.H2: &h2, lab.H3: &h3}
	for _, p := range lab.Protocols() {
		s := serve(t, http.HandlerFunc(content), settings{})
		side := get(t, s.config(t, p, 1, 100)).Side
		if (side.Window == nil) != (want[p] == nil) || side.Window != nil && *side.Window != *want[p] {
			t.Errorf("%s: window %v", p, side.Window)
		}
		if (side.UDPReceiveBuffer != nil) != (p == lab.H3) {
			t.Errorf("%s: UDP receive buffer %v", p, side.UDPReceiveBuffer)
		}
		if !strings.HasPrefix(side.Program, "samewire "+lab.Version) {
			t.Errorf("program %q", side.Program)
		}
	}
}

// wantAll wants n requests with the outcome.
func wantAll(t *testing.T, r lab.Report, n int, want lab.Outcome) {
	t.Helper()
	if len(r.Requests) != n {
		t.Fatalf("%d requests, want %d", len(r.Requests), n)
	}
	for i, q := range r.Requests {
		if q.Outcome != want {
			t.Errorf("request %d: %s (%s), want %s", i, q.Outcome, q.Error, want)
		}
	}
}

// wantTimes wants the times of successful requests in their order, and null
// where they have no meaning.
func wantTimes(t *testing.T, r lab.Report, p lab.Protocol) {
	t.Helper()
	for i, q := range r.Requests {
		if q.Start != 0 || q.StartTransfer == nil || q.Total == nil {
			t.Fatalf("request %d: %+v", i, q)
		}
		if (q.Connect != nil) != (q.AppConnect != nil && p != lab.H3) {
			t.Errorf("request %d: connect %v, appconnect %v", i, q.Connect, q.AppConnect)
		}
		last := 0.0
		for _, s := range []*float64{q.Connect, q.AppConnect, q.StartTransfer, q.Total, &r.Duration} {
			if s != nil && *s < last {
				t.Errorf("request %d: times out of order: %+v", i, q)
			} else if s != nil {
				last = *s
			}
		}
	}
}
