package lab

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"reflect"
	"strings"
	"testing"
	"time"
)

func testCell() Cell {
	way := Way{Delay: 20 * time.Millisecond, Rate: 100e6, Loss: Loss{Share: 0.01}, Queue: Queue{BDP: 1}}
	return Cell{
		Path: Path{Name: "loss-1", Up: way, Down: way}, Load: Load{Name: "ten-small", Objects: 10, Size: 8192},
		Stack: DefaultStack, Site: Kernel, Protocol: H3,
	}
}

// Names and seeds are part of the format of a record folder: these values must
// never change within a format version.
func TestNamesAndSeedsAreStable(t *testing.T) {
	if got := RunID(testCell(), 3); got != "66qlen52-3" {
		t.Errorf("the run's ID is %s", got)
	}
	if got := DeriveSeed(1, "link", "wired", "cold", "1"); got != 2901069105361188016 {
		t.Errorf("the seed is %d", got)
	}
	if DeriveSeed(1, "a", "b") == DeriveSeed(1, "ab") || DeriveSeed(1, "a") == DeriveSeed(2, "a") {
		t.Error("different words or parents give one seed")
	}
}

// Every property of a cell is in its run's name.
func TestRunIDDependsOnEverything(t *testing.T) {
	seen := map[string]string{RunID(testCell(), 1): "nothing"}
	for name, change := range map[string]func(*Cell){
		"path's name": func(c *Cell) { c.Path.Name = "x" }, "family": func(c *Cell) { c.Path.Family = IPv6 },
		"delay up": func(c *Cell) { c.Path.Up.Delay++ }, "delay down": func(c *Cell) { c.Path.Down.Delay++ },
		"rate": func(c *Cell) { c.Path.Up.Rate++ }, "loss": func(c *Cell) { c.Path.Up.Loss.Share += 1e-15 },
		"queue": func(c *Cell) { c.Path.Up.Queue.BDP += 1e-15 }, "mtu": func(c *Cell) { c.Path.Up.MTU = 1400 },
		"jitter": func(c *Cell) { c.Path.Up.Jitter.Spread = 1 }, "overhead": func(c *Cell) { c.Path.Up.Overhead = 14 },
		"burst": func(c *Cell) { c.Path.Up.Burst = 1 }, "police": func(c *Cell) { c.Path.Up.Police = true },
		"trace": func(c *Cell) { c.Path.Up.Trace = NewTrace("x", "1") }, "trace's content": func(c *Cell) { c.Path.Up.Trace = NewTrace("x", "2") },
		"aqm": func(c *Cell) { c.Path.Up.AQM.Kind = CoDel }, "limit": func(c *Cell) { c.Path.Up.Limit = 1 },
		"throttle": func(c *Cell) { c.Path.Up.Throttle.Rate = 1 }, "super": func(c *Cell) { c.Path.Up.Loss.Super = true },
		"rules": func(c *Cell) { c.Path.Up.Rules = "drop udp" }, "duplicate": func(c *Cell) { c.Path.Up.Duplicate.Share = 0.1 },
		"corrupt": func(c *Cell) { c.Path.Up.Corrupt.Share = 0.1 }, "reorder": func(c *Cell) { c.Path.Up.Reorder.Share = 0.1 },
		"shrink": func(c *Cell) { c.Path.Up.Shrink.MTU = 1400 }, "icmp": func(c *Cell) { c.Path.Up.TooBig = true },
		"rebind":      func(c *Cell) { c.Path.Rebind.At = 1 },
		"load's name": func(c *Cell) { c.Load.Name = "x" }, "objects": func(c *Cell) { c.Load.Objects++ },
		"size": func(c *Cell) { c.Load.Size++ }, "warm": func(c *Cell) { c.Load.Warm = true },
		"upload": func(c *Cell) { c.Load.Upload = true }, "connections": func(c *Cell) { c.Load.Connections.H2 = 2 },
		"server": func(c *Cell) { c.Stack.Server = "x" }, "client": func(c *Cell) { c.Stack.Client = "x" },
		"tls": func(c *Cell) { c.Stack.TLS = "1.2" }, "cc": func(c *Cell) { c.Stack.CC = "reno" },
		"initcwnd": func(c *Cell) { c.Stack.InitCwnd++ }, "site": func(c *Cell) { c.Site = Virtual }, "protocol": func(c *Cell) { c.Protocol = H1 },
	} {
		c := testCell()
		change(&c)
		id := RunID(c, 1)
		if other, ok := seen[id]; ok {
			t.Errorf("a change of %s gives the ID of a change of %s", name, other)
		}
		seen[id] = name
	}
	if id := RunID(testCell(), 2); seen[id] != "" || !strings.HasSuffix(id, "-2") {
		t.Errorf("repetition 2 is %s", id)
	}
}

func TestAuthority(t *testing.T) {
	a, err := NewAuthority(7)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewAuthority(7)
	if err != nil || !reflect.DeepEqual(a, again) {
		t.Errorf("one seed gave two authorities, %v", err)
	}
	other, err := NewAuthority(8)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(a.CertPEM, a.KeyPEM)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := pair.PrivateKey.(ed25519.PrivateKey); !ok {
		t.Errorf("the key is a %T", pair.PrivateKey)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	verify := func(root []byte, name string, at time.Time) error {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(root) {
			t.Fatal("the root is no certificate")
		}
		_, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: name, CurrentTime: at})
		return err
	}
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	virtual := time.Date(2009, 11, 10, 23, 0, 0, 0, time.UTC) // where virtual time starts
	for _, at := range []time.Time{now, virtual} {
		if err := verify(a.RootPEM, ServerName, at); err != nil {
			t.Errorf("at %v: %v", at, err)
		}
	}
	if verify(other.RootPEM, ServerName, now) == nil {
		t.Error("another study's root is trusted")
	}
	if verify(a.RootPEM, "example.com", now) == nil {
		t.Error("another name is trusted")
	}
}

func TestConfigs(t *testing.T) {
	r := Run{Cell: testCell(), Timeout: time.Minute, Authority: 7}
	r.Cell.Path.Family = IPv6
	server, err := r.ServerConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := r.ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if server.Addr != client.Addr || server.Addr.String() != "[2001:2::2]:443" {
		t.Errorf("server on %v, client asks %v", server.Addr, client.Addr)
	}
	if client.Connections != 1 || client.Timeout != time.Minute || client.Protocol != H3 || client.Load != r.Cell.Load || client.TLS != server.TLS {
		t.Errorf("%+v", client)
	}
	if _, err := tls.X509KeyPair(server.CertPEM, server.KeyPEM); err != nil {
		t.Error(err)
	}
	r.Cell.Path.Family = ""
	if server, err = r.ServerConfig(); err != nil || server.Addr.String() != "198.18.0.2:443" {
		t.Errorf("%v, %v", server.Addr, err)
	}
}

func TestLoadConnections(t *testing.T) {
	for _, tt := range []struct {
		load Load
		want Connections
	}{
		{Load{Objects: 10}, Connections{6, 1, 1}},
		{Load{Objects: 3}, Connections{3, 1, 1}},
		{Load{Objects: 10, Connections: Connections{H2: 4}}, Connections{6, 4, 1}},
		{Load{Objects: 2, Connections: Connections{8, 8, 8}}, Connections{2, 2, 2}},
	} {
		got := Connections{tt.load.For(H1), tt.load.For(H2), tt.load.For(H3)}
		if got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.load, got, tt.want)
		}
	}
}

func TestRecordValue(t *testing.T) {
	v := 1.5
	r := Record{Samples: []Sample{{Metric: Duration, Value: &v}, {Metric: RoundTrips}}}
	if got := r.Value(Duration); got == nil || *got != v {
		t.Errorf("%v", got)
	}
	if r.Value(RoundTrips) != nil || r.Value(TTFB) != nil {
		t.Error("a value that is not there was found")
	}
}
