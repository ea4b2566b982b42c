package origin_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/origin"
)

var wireNames = map[lab.Protocol]string{lab.H1: "HTTP/1.1", lab.H2: "HTTP/2.0", lab.H3: "HTTP/3.0"}

// everywhere runs a test with each protocol against one server.
func everywhere(t *testing.T, f func(t *testing.T, s *origin.Server, c *http.Client, p lab.Protocol)) {
	s := start(t, config(t, "127.0.0.1:0", "1.3"))
	for _, p := range lab.Protocols() {
		t.Run(string(p), func(t *testing.T) { f(t, s, labClient(t, s, p), p) })
	}
}

func TestBytes(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		s := start(t, config(t, addr, "1.3"))
		for _, p := range lab.Protocols() {
			for _, n := range []int64{0, 1, 8192, 3_000_000} {
				t.Run(fmt.Sprint(addr, p, n), func(t *testing.T) {
					got := do(t, labClient(t, s, p), "GET", fmt.Sprint("/bytes/", n), nil)
					if got.status != http.StatusOK || got.proto != wireNames[p] || got.length != n {
						t.Errorf("%s %d, content length %d", got.proto, got.status, got.length)
					}
					var check lab.ContentCheck
					_, _ = check.Write([]byte(got.body))
					if check.N != n || check.Corrupt {
						t.Errorf("%d bytes, corrupt: %t", check.N, check.Corrupt)
					}
				})
			}
		}
	}
}

func TestHead(t *testing.T) {
	everywhere(t, func(t *testing.T, _ *origin.Server, c *http.Client, _ lab.Protocol) {
		got := do(t, c, "HEAD", "/bytes/1000000000000", nil)
		if got.status != http.StatusOK || got.length != lab.MaxSize || got.body != "" {
			t.Errorf("%d, content length %d, body %q", got.status, got.length, got.body)
		}
	})
}

func TestUpload(t *testing.T) {
	everywhere(t, func(t *testing.T, _ *origin.Server, c *http.Client, _ lab.Protocol) {
		for _, tc := range []struct {
			method string
			body   io.Reader
			want   string
		}{
			{"POST", &lab.ContentReader{Size: 3_000_000}, `{"bytes":3000000,"ok":true}`},
			{"PUT", &lab.ContentReader{Size: 1}, `{"bytes":1,"ok":true}`},
			{"POST", nil, `{"bytes":0,"ok":true}`},
			{"POST", strings.NewReader("not the content"), `{"bytes":15,"ok":false}`},
		} {
			got := do(t, c, tc.method, "/upload", tc.body)
			if got.status != http.StatusOK || strings.TrimSpace(got.body) != tc.want ||
				got.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %q, want %q", tc.method, got.status, got.body, tc.want)
			}
		}
	})
}

func TestBadInput(t *testing.T) {
	everywhere(t, func(t *testing.T, _ *origin.Server, c *http.Client, _ lab.Protocol) {
		for _, tc := range []struct {
			method, path string
			status       int
			says         string
		}{
			{"GET", "/bytes/-1", 400, "from 0 to 1000000000000"},
			{"GET", "/bytes/1000000000001", 400, "from 0 to"},
			{"GET", "/bytes/99999999999999999999", 400, "from 0 to"},
			{"GET", "/bytes/", 400, "from 0 to"},
			{"GET", "/bytes/1/2", 400, "from 0 to"},
			{"GET", "/?delay=soon", 400, "delay"},
			{"GET", "/?delay=-1s", 400, "delay"},
			{"GET", "/?delay=2h", 400, "delay"},
			{"GET", "/?delay=", 400, "delay"},
			{"GET", "/?delay=%zz", 400, "query"},
			{"POST", "/bytes/1", 405, "GET, HEAD"},
			{"GET", "/upload", 405, "POST, PUT"},
			{"DELETE", "/", 405, "GET, HEAD"},
			{"GET", "/favicon.ico", 404, "/favicon.ico"},
			{"GET", "/bytes", 404, "/bytes"},
		} {
			got := do(t, c, tc.method, tc.path, nil)
			if got.status != tc.status || !strings.Contains(got.body, tc.says) {
				t.Errorf("%s %s: %d %q, want %d with %q", tc.method, tc.path, got.status, got.body, tc.status, tc.says)
			}
			if (got.header.Get("Allow") != "") != (tc.status == 405) {
				t.Errorf("%s %s: %d with Allow %q", tc.method, tc.path, got.status, got.header.Get("Allow"))
			}
		}
	})
}

func TestIndex(t *testing.T) {
	everywhere(t, func(t *testing.T, _ *origin.Server, c *http.Client, _ lab.Protocol) {
		got := do(t, c, "GET", "/", nil)
		if got.status != http.StatusOK || !strings.Contains(got.body, "/bytes/N") || !strings.Contains(got.body, "/upload") {
			t.Errorf("%d %q", got.status, got.body)
		}
	})
}

func TestAltSvc(t *testing.T) {
	everywhere(t, func(t *testing.T, s *origin.Server, c *http.Client, p lab.Protocol) {
		want := fmt.Sprintf(`h3=":%d"; ma=86400`, s.Addr().Port())
		if p == lab.H3 {
			want = ""
		}
		got := do(t, c, "GET", "/bytes/1", nil)
		if alt := got.header.Get("Alt-Svc"); alt != want {
			t.Errorf("Alt-Svc %q, want %q", alt, want)
		}
	})
}

func TestDelay(t *testing.T) {
	everywhere(t, func(t *testing.T, _ *origin.Server, c *http.Client, _ lab.Protocol) {
		for method, path := range map[string]string{"GET": "/bytes/1", "HEAD": "/", "POST": "/upload"} {
			before := time.Now()
			got := do(t, c, method, path+"?delay=50ms", nil)
			if took := time.Since(before); took < 50*time.Millisecond || got.status != http.StatusOK {
				t.Errorf("%s %s: %d after %v", method, path, got.status, took)
			}
		}
	})
}

// A request that waits must not outlive its client.
func TestDelayEndsWithClient(t *testing.T) {
	everywhere(t, func(t *testing.T, s *origin.Server, c *http.Client, p lab.Protocol) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/bytes/1?delay=1h", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v; want no answer", err)
		}
		for deadline := time.Now().Add(10 * time.Second); strings.Contains(stacks(), "origin.wait("); {
			if time.Now().After(deadline) {
				t.Fatal("the request still waits")
			}
			time.Sleep(time.Millisecond)
		}
	})
}

func TestTLSVersions(t *testing.T) {
	for version, want := range map[string]uint16{"1.3": tls.VersionTLS13, "1.2": tls.VersionTLS12} {
		s := start(t, config(t, "127.0.0.1:0", version))
		for _, p := range lab.Protocols() {
			if p == lab.H3 {
				want = tls.VersionTLS13
			}
			got := do(t, labClient(t, s, p), "GET", "/bytes/1", nil)
			if got.tls != want {
				t.Errorf("TLS %s, %s: %s", version, p, tls.VersionName(got.tls))
			}
		}
	}
}

func TestNoOtherTLSVersion(t *testing.T) {
	for version, other := range map[string]uint16{"1.3": tls.VersionTLS12, "1.2": tls.VersionTLS13} {
		s := start(t, config(t, "127.0.0.1:0", version))
		conf := &tls.Config{RootCAs: roots(t), MinVersion: other, MaxVersion: other}
		if resp, err := client(t, s, lab.H1, conf).Get(base + "/bytes/1"); err == nil {
			_ = resp.Body.Close()
			t.Errorf("TLS %s speaks %s too", version, tls.VersionName(other))
		}
	}
}

func TestStartFaults(t *testing.T) {
	good := config(t, "127.0.0.1:0", "1.3")
	taken := start(t, good)
	for name, change := range map[string]func(*lab.ServerConfig){
		"TLS version":   func(c *lab.ServerConfig) { c.TLS = "1.1" },
		"no version":    func(c *lab.ServerConfig) { c.TLS = "" },
		"key missing":   func(c *lab.ServerConfig) { c.KeyPEM = nil },
		"certificate":   func(c *lab.ServerConfig) { c.CertPEM = []byte("x") },
		"port taken":    func(c *lab.ServerConfig) { c.Addr = taken.Addr() },
		"not our own":   func(c *lab.ServerConfig) { c.Addr = netip.MustParseAddrPort("192.0.2.1:0") },
		"UDP port only": func(c *lab.ServerConfig) { c.Addr = takenUDP(t) },
	} {
		cfg := good
		change(&cfg)
		before := runtime.NumGoroutine()
		if s, err := origin.Start(loopback{}, cfg); err == nil {
			_ = s.Close()
			t.Errorf("%s: started", name)
		}
		noGoroutineLeft(t, before)
	}
}

func takenUDP(t *testing.T) netip.AddrPort {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return netip.MustParseAddrPort(c.LocalAddr().String())
}

func TestSelfMadeCertificate(t *testing.T) {
	s := start(t, lab.ServerConfig{Addr: netip.MustParseAddrPort("127.0.0.1:0"), TLS: "1.3"})
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(s.Certificate()) {
		t.Fatal("no certificate")
	}
	for _, name := range []string{"127.0.0.1", "::1", "localhost", lab.ServerName} {
		for _, p := range lab.Protocols() {
			conf := &tls.Config{RootCAs: pool, ServerName: name}
			if got := do(t, client(t, s, p, conf), "GET", "/bytes/1", nil); got.status != http.StatusOK {
				t.Errorf("%s as %s: %d", p, name, got.status)
			}
		}
	}
}

func TestSide(t *testing.T) {
	s := start(t, config(t, "127.0.0.1:0", "1.3"))
	if got := s.Side().Senders; len(got) != 0 {
		t.Fatalf("senders before any connection: %+v", got)
	}
	for _, p := range lab.Protocols() {
		do(t, labClient(t, s, p), "GET", "/bytes/1", nil)
	}
	side := s.Side()
	reno := lab.Sender{Transport: "quic", CC: "reno", InitialWindow: 32, Source: "declared"}
	if len(side.Senders) != 3 || side.Senders[0] != cubic || side.Senders[1] != cubic || side.Senders[2] != reno {
		t.Errorf("senders %+v", side.Senders)
	}
	if side.Window == nil || *side.Window != 16<<20 {
		t.Errorf("window %v", side.Window)
	}
	if side.UDPReceiveBuffer == nil || *side.UDPReceiveBuffer != 4711 {
		t.Errorf("UDP receive buffer %v", side.UDPReceiveBuffer)
	}
	if !strings.HasPrefix(side.Program, "samewire "+lab.Version) {
		t.Errorf("program %q", side.Program)
	}
}

// The windows that HTTP/2 really announces: net/http documents a limit of
// 4 MiB for them that it does not keep.
func TestHTTP2Windows(t *testing.T) {
	s := start(t, config(t, "127.0.0.1:0", "1.3"))
	c, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{
		RootCAs: roots(t), ServerName: lab.ServerName, NextProtos: []string{"h2"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(c, c)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	var stream, streams uint32
	conn := uint32(65535) // RFC 9113, section 6.9.2
	for stream == 0 || conn == 65535 {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if v, ok := f.Value(http2.SettingInitialWindowSize); ok {
				stream = v
			}
			if v, ok := f.Value(http2.SettingMaxConcurrentStreams); ok {
				streams = v
			}
		case *http2.WindowUpdateFrame:
			conn += f.Increment
		}
	}
	if stream != 16<<20 || conn != 16<<20 || streams != 250 {
		t.Errorf("windows: stream %d, connection %d; %d streams", stream, conn, streams)
	}
}

// Close must end what is open, and leave nothing.
func TestCloseLeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	s, err := origin.Start(loopback{cubic}, config(t, "127.0.0.1:0", "1.3"))
	if err != nil {
		t.Fatal(err)
	}
	var ended atomic.Int32
	var clients []*http.Client
	for _, p := range lab.Protocols() {
		c := labClient(t, s, p)
		clients = append(clients, c)
		do(t, c, "GET", "/bytes/1", nil)
		for _, path := range []string{"/?delay=1h", "/bytes/1000000000000"} {
			go func() {
				resp, err := c.Get(base + path)
				if err == nil {
					_, err = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				if err != nil {
					ended.Add(1)
				}
			}()
		}
	}
	silent, err := net.Dial("tcp", s.Addr().String()) // says nothing
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		now := stacks()
		if strings.Count(now, "origin.wait(") == 3 && strings.Count(now, "origin.answer.write(") == 3 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("not all requests have begun:\n", now)
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ended.Load() < 6; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of 6 requests ended with an error", ended.Load())
		}
	}
	if l, err := net.Listen("tcp", s.Addr().String()); err != nil {
		t.Errorf("the port is not free: %v", err)
	} else {
		_ = l.Close()
	}
	for _, c := range clients {
		c.CloseIdleConnections()
	}
	_ = silent.Close()
	noGoroutineLeft(t, before)
}
