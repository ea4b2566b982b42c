package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
)

func TestUploadFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		outcome lab.Outcome
		handler http.HandlerFunc
	}{
		"does not say": {lab.Unsupported, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		}},
		"says something else": {lab.Unsupported, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(w, r.Body)
		}},
		"other bytes": {lab.Corrupt, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprintf(w, `{"bytes":%d,"ok":false}`, objectSize)
		}},
		"fewer bytes": {lab.Corrupt, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = fmt.Fprint(w, `{"bytes":1,"ok":true}`)
		}},
		"will not": {lab.Refused, func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no", http.StatusForbidden)
		}},
	} {
		for _, p := range lab.Protocols() {
			t.Run(name+"/"+string(p), func(t *testing.T) {
				cfg := serve(t, tc.handler, settings{}).config(t, p, 2, objectSize)
				cfg.Load.Upload = true
				wantAll(t, get(t, cfg), 2, tc.outcome)
			})
		}
	}
}

func TestWarmUpFails(t *testing.T) {
	for _, p := range lab.Protocols() {
		s := serve(t, http.NotFoundHandler(), settings{})
		cfg := s.config(t, p, 3, 100)
		cfg.Load.Warm = true
		r := get(t, cfg)
		wantAll(t, r, 3, lab.Refused)
		if !strings.HasPrefix(r.Error, "warm-up: ") || r.Requests[2].Error != r.Error || r.Duration != 0 {
			t.Errorf("%s: %+v", p, r)
		}
	}
}

// Each way in which one request can go wrong ends as it should.
func TestFaults(t *testing.T) {
	for name, f := range faults {
		for _, p := range lab.Protocols() {
			t.Run(name+"/"+string(p), func(t *testing.T) {
				s := serve(t, f.handler, settings{})
				r := get(t, s.config(t, p, 3, objectSize))
				wantAll(t, r, 3, f.outcome)
				for _, q := range r.Requests {
					// With HTTP/3 a reset can overtake the header.
					status := q.Status == f.status || q.Status == 0 && f.outcome == lab.Reset
					if !status || (q.Error == "") != (f.outcome == lab.OK) || q.Protocol != string(p) {
						t.Errorf("%+v", q)
					}
				}
			})
		}
	}
}

// A failed request must never make the report lose the others.
func TestReportLosesNothing(t *testing.T) {
	names := slices.Sorted(maps.Keys(faults))
	rapid.Check(t, func(rt *rapid.T) {
		order := rapid.SliceOfN(rapid.SampledFrom(names), 1, 12).Draw(rt, "faults")
		p := rapid.SampledFrom(lab.Protocols()).Draw(rt, "protocol")
		conns := rapid.IntRange(1, 4).Draw(rt, "connections")
		var next atomic.Int32
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			faults[order[next.Add(1)-1]].handler(w, r)
		}), settings{})
		cfg := s.config(t, p, len(order), objectSize)
		cfg.Connections = conns
		r := load.Get(t.Context(), new(loopback), cfg)
		got, want := map[lab.Outcome]int{}, map[lab.Outcome]int{}
		for _, q := range r.Requests {
			got[q.Outcome]++
		}
		for _, name := range order {
			want[faults[name].outcome]++
		}
		if !maps.Equal(got, want) {
			rt.Errorf("outcomes %v, want %v: %+v", got, want, r.Requests)
		}
	})
}

func TestWrongProtocol(t *testing.T) {
	s := serve(t, http.HandlerFunc(content), settings{protos: []string{"http/1.1"}})
	r := get(t, s.config(t, lab.H2, 4, 100))
	wantAll(t, r, 4, lab.WrongProtocol)
	for i, q := range r.Requests {
		if q.Protocol != "h1" || q.Status != 0 || q.Error != "asked for h2, got h1" {
			t.Errorf("%+v", q)
		}
		if (q.AppConnect != nil) != (i == 0) {
			t.Errorf("request %d: appconnect %v", i, q.AppConnect)
		}
	}
}

// HTTP/1.0 is not the HTTP/1.1 that was asked for.
func TestOlderProtocol(t *testing.T) {
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(rw, "HTTP/1.0 200 OK\r\n\r\n")
		_, _ = io.Copy(rw, &lab.ContentReader{Size: 100})
		_ = rw.Flush()
		_ = c.Close()
	}), settings{protos: []string{"http/1.1"}})
	r := get(t, s.config(t, lab.H1, 1, 100))
	wantAll(t, r, 1, lab.WrongProtocol)
	if q := r.Requests[0]; q.Protocol != "HTTP/1.0" || q.Bytes != 100 {
		t.Errorf("%+v", q)
	}
}

func TestNoCommonProtocol(t *testing.T) {
	s := serve(t, http.HandlerFunc(content), settings{protos: []string{"spdy/3"}})
	r := get(t, s.config(t, lab.H1, 2, 100))
	wantAll(t, r, 2, lab.Reset)
	if q := r.Requests[0]; q.Protocol != "" || !strings.HasPrefix(q.Error, "TLS handshake: ") {
		t.Errorf("%+v", q)
	}
}

func TestUntrusted(t *testing.T) {
	other, err := lab.NewAuthority(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range lab.Protocols() {
		cfg := serve(t, http.HandlerFunc(content), settings{}).config(t, p, 2, 100)
		cfg.RootPEM = other.RootPEM
		r := get(t, cfg)
		wantAll(t, r, 2, lab.Reset)
		if !strings.Contains(r.Requests[0].Error, "certificate") {
			t.Errorf("%s: %q", p, r.Requests[0].Error)
		}
	}
}

func TestRefusedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	s := &server{addr: netip.MustParseAddrPort(l.Addr().String())}
	for _, p := range []lab.Protocol{lab.H1, lab.H2} {
		r := get(t, s.config(t, p, 20, 100))
		wantAll(t, r, 20, lab.Refused)
		if want := lab.DefaultConnections.H1; p == lab.H1 && r.Connections != want || p == lab.H2 && r.Connections != 1 {
			t.Errorf("%s: %d connections attempted", p, r.Connections)
		}
		for _, q := range r.Requests {
			if q.Error != "open TCP connection: connect: connection refused" {
				t.Errorf("%s: %q", p, q.Error)
			}
		}
	}
}

// Nobody answers: over UDP that is all that a closed port does.
func TestSilence(t *testing.T) {
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = u.Close() }()
	s := &server{addr: netip.MustParseAddrPort(u.LocalAddr().String())}
	cfg := s.config(t, lab.H3, 3, 100)
	cfg.Timeout = 100 * time.Millisecond
	r := get(t, cfg)
	wantAll(t, r, 3, lab.Timeout)
	if r.Connections != 1 || r.Duration < 0.1 || r.Requests[0].Error != "QUIC handshake: the time limit came" {
		t.Errorf("%+v", r)
	}
}

func TestTimeout(t *testing.T) {
	for _, p := range lab.Protocols() {
		for _, when := range []string{"before the response", "in the body"} {
			t.Run(string(p)+"/"+when, func(t *testing.T) {
				s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if when == "in the body" {
						w.Header().Set("Content-Length", "1000")
						_, _ = io.Copy(w, &lab.ContentReader{Size: 10})
						_ = http.NewResponseController(w).Flush()
					}
					<-r.Context().Done()
				}), settings{})
				cfg := s.config(t, p, 20, 1000)
				cfg.Timeout = 200 * time.Millisecond
				r := get(t, cfg)
				if when == "in the body" && r.Requests[0].StartTransfer == nil {
					// A slow processor needed all of it for the connection.
					cfg.Timeout *= 25
					r = get(t, cfg)
				}
				wantAll(t, r, 20, lab.Timeout)
				if limit := cfg.Timeout.Seconds(); r.Duration < limit || r.Duration > limit+20 {
					t.Errorf("took %v s", r.Duration)
				}
				if q := r.Requests[0]; (q.StartTransfer != nil) != (when == "in the body") || q.Total != nil {
					t.Errorf("%+v", q)
				}
			})
		}
	}
}

func TestEndedByCaller(t *testing.T) {
	for _, p := range lab.Protocols() {
		ctx, cancel := context.WithCancel(t.Context())
		s := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		}), settings{})
		left := nothingLeft(t)
		r := load.Get(ctx, new(loopback), s.config(t, p, 20, 100))
		left()
		wantAll(t, r, 20, lab.Timeout)
		if !strings.Contains(r.Requests[0].Error, "the load was ended") {
			t.Errorf("%s: %q", p, r.Requests[0].Error)
		}
		r = load.Get(ctx, new(loopback), s.config(t, p, 20, 100))
		wantAll(t, r, 20, lab.Timeout)
		if r.Connections != 0 {
			t.Errorf("%s: %d connections after the end", p, r.Connections)
		}
	}
}

// A connection that is lost costs the requests that it carries. With HTTP/1.1
// it is replaced when requests still wait, and the load goes on.
func TestConnectionLost(t *testing.T) {
	for _, p := range lab.Protocols() {
		var n atomic.Int32
		s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 4 {
				w.Header().Set("Content-Length", "5000")
				_, _ = io.Copy(w, &lab.ContentReader{Size: 100})
				_ = http.NewResponseController(w).Flush()
				cut(r)
				return
			}
			content(w, r)
		}), settings{})
		cfg := s.config(t, p, 12, 5000)
		cfg.Connections = 2
		r := get(t, cfg)
		got := outcomes(r)
		if p == lab.H1 && (got[lab.Reset] != 1 || r.Connections > 3) || got[lab.Reset] < 1 || got[lab.OK]+got[lab.Reset] != 12 {
			t.Errorf("%s: %v with %d connections: %+v", p, got, r.Connections, r.Requests)
		}
	}
}

// A server that ends the handshake of TLS, and one that speaks no TLS at all.
func TestNoTLS(t *testing.T) {
	for name, hello := range map[string]string{"hangs up": "", "other": "220 mail.example ESMTP\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			for c, err := l.Accept(); err == nil; c, err = l.Accept() {
				_, _ = io.WriteString(c, hello)
				_ = c.Close()
			}
		}()
		s := &server{addr: netip.MustParseAddrPort(l.Addr().String())}
		for _, p := range []lab.Protocol{lab.H1, lab.H2} {
			r := get(t, s.config(t, p, 3, 100))
			wantAll(t, r, 3, lab.Reset)
			if q := r.Requests[0]; q.Connect == nil || q.AppConnect != nil || !strings.HasPrefix(q.Error, "TLS handshake: ") {
				t.Errorf("%s, %s: %+v", name, p, q)
			}
		}
		_ = l.Close()
		<-served
	}
}

// A connection that cannot be opened costs one request, not the load.
func TestOneLaneFails(t *testing.T) {
	n := &loopback{dial: func(_ context.Context, n int) error {
		if n == 2 {
			return fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
		}
		return nil
	}}
	s := serve(t, http.HandlerFunc(content), settings{})
	cfg := s.config(t, lab.H1, 20, 5000)
	cfg.Connections = 3
	left := nothingLeft(t)
	r := load.Get(t.Context(), n, cfg)
	left()
	got := outcomes(r)
	if got[lab.OK] != 19 || got[lab.Refused] != 1 || r.Connections != 3 {
		t.Errorf("%v with %d connections", got, r.Connections)
	}
}

// A connection that does not open is not waited for when the others have done
// all the work.
func TestOneLaneHangs(t *testing.T) {
	n := &loopback{dial: func(ctx context.Context, n int) error {
		if n == 2 {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}}
	s := serve(t, http.HandlerFunc(content), settings{})
	cfg := s.config(t, lab.H1, 20, 5000)
	cfg.Connections = 3
	left := nothingLeft(t)
	r := load.Get(t.Context(), n, cfg)
	left()
	wantAll(t, r, 20, lab.OK)
	if r.Connections != 3 || r.Duration > 30 {
		t.Errorf("%d connections, %v s", r.Connections, r.Duration)
	}
}

func TestOneOfManyConnectionsFails(t *testing.T) {
	n := &loopback{dial: func(_ context.Context, n int) error {
		if n == 1 {
			return errors.New("no")
		}
		return nil
	}}
	s := serve(t, http.HandlerFunc(content), settings{})
	cfg := s.config(t, lab.H2, 10, 5000)
	cfg.Connections = 3
	r := load.Get(t.Context(), n, cfg)
	got := outcomes(r)
	if got[lab.Reset] < 3 || got[lab.Reset] > 4 || got[lab.OK] != 10-got[lab.Reset] {
		t.Errorf("%v", got)
	}
}

func TestBadConfig(t *testing.T) {
	good := (&server{addr: netip.MustParseAddrPort("127.0.0.1:1")}).config(t, lab.H1, 3, 100)
	for name, tc := range map[string]struct {
		change func(*lab.ClientConfig)
		says   []string
	}{
		"all at once": {func(c *lab.ClientConfig) {
			*c = lab.ClientConfig{Load: lab.Load{Objects: 3, Size: -1}, Timeout: -1, RootPEM: []byte("x")}
		}, []string{"address", "-1 bytes", "0 connections", "time limit", "TLS version", "protocol", "root certificate"}},
		"objects":  {func(c *lab.ClientConfig) { c.Load.Objects = 0 }, []string{"0 objects"}},
		"size":     {func(c *lab.ClientConfig) { c.Load.Size = lab.MaxSize + 1 }, []string{"bytes"}},
		"protocol": {func(c *lab.ClientConfig) { c.Protocol = "h4" }, []string{`"h4"`}},
	} {
		cfg := good
		tc.change(&cfg)
		n := new(loopback)
		r := load.Get(t.Context(), n, cfg)
		wantAll(t, r, cfg.Load.Objects, lab.Invalid)
		for _, s := range tc.says {
			if !strings.Contains(r.Error, s) {
				t.Errorf("%s: %q does not say %q", name, r.Error, s)
			}
		}
		if n.dials.Load() != 0 {
			t.Errorf("%s: dialled", name)
		}
	}
}

func outcomes(r lab.Report) map[lab.Outcome]int {
	m := map[lab.Outcome]int{}
	for _, q := range r.Requests {
		m[q.Outcome]++
	}
	return m
}
