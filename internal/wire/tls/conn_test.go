package tls_test

import (
	"bytes"
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
	wire "github.com/samewire/samewire/internal/wire/tls"
)

// check reads a talk of crypto/tls, and compares what was said.
func check(t *testing.T, k *talk, up, down string) *wire.Hello {
	t.Helper()
	c, list := k.read(k.log(t), 0)
	if got := strings.Join(kinds(list, lab.Up), " "); got != up {
		t.Errorf("up %s\nwant %s", got, up)
	}
	if got := strings.Join(kinds(list, lab.Down), " "); got != down {
		t.Errorf("down %s\nwant %s", got, down)
	}
	if !bytes.Equal(application(list, lab.Up), question) || !bytes.Equal(application(list, lab.Down), answer) {
		t.Error("the application data is another")
	}
	return c.Hello()
}

const (
	up13   = "ClientHello ChangeCipherSpec Finished ApplicationData Alert"
	down13 = "ServerHello ChangeCipherSpec EncryptedExtensions Certificate CertificateVerify Finished NewSessionTicket ApplicationData Alert"
)

func TestTLS13(t *testing.T) {
	k := converse(t, &tls.Config{NextProtos: []string{"h2", "http/1.1"}}, &tls.Config{NextProtos: []string{"http/1.1"}})
	h := check(t, k, up13, down13)
	if h.Version != "1.3" || h.ServerName != "example.org" || h.ALPN != "http/1.1" || h.Group != "X25519MLKEM768" ||
		!slices.Equal(h.Offered, []string{"h2", "http/1.1"}) || h.Tickets != 1 || h.Resumed || h.HelloRetry ||
		h.EarlyOffered || h.EarlyAccepted != nil || !h.ServerFinished || !h.ClientFinished ||
		!slices.Contains(h.Groups, "secp256r1") || !slices.Contains(h.Versions, "1.3") {
		t.Errorf("%+v", h)
	}
	if !slices.Equal(h.KeyShares, []string{"X25519MLKEM768", "x25519"}) {
		t.Errorf("key shares %v", h.KeyShares)
	}
	// The sizes again, from the bytes: the ClientHello is a record of its own.
	if want := len(k.writes[0].data) - 5; h.ClientSize != want {
		t.Errorf("ClientHello of %d bytes, want %d", h.ClientSize, want)
	}
	if h.ServerFlight < 1000 {
		t.Errorf("the server's flight has %d bytes", h.ServerFlight)
	}
}

func TestTLS13WithoutSecrets(t *testing.T) {
	k := converse(t, &tls.Config{}, &tls.Config{})
	c, list := k.read(nil, 0)
	if got := strings.Join(kinds(list, lab.Up), " "); got != "ClientHello ChangeCipherSpec ApplicationData!" {
		t.Error(got)
	}
	if got := strings.Join(kinds(list, lab.Down), " "); got != "ServerHello ChangeCipherSpec ApplicationData!" {
		t.Error(got)
	}
	if h := c.Hello(); h.Version != "1.3" || h.ServerFinished || h.ALPN != "" || h.Suite == "" {
		t.Errorf("%+v", h)
	}
}

// TestHelloRetry: the server has no group for which the client sent a share.
func TestHelloRetry(t *testing.T) {
	k := converse(t, &tls.Config{CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384}},
		&tls.Config{CurvePreferences: []tls.CurveID{tls.CurveP384}})
	h := check(t, k, "ClientHello ChangeCipherSpec ClientHello Finished ApplicationData Alert",
		"HelloRetryRequest ChangeCipherSpec ServerHello EncryptedExtensions Certificate CertificateVerify Finished NewSessionTicket ApplicationData Alert")
	if !h.HelloRetry || h.Group != "secp384r1" || !slices.Equal(h.KeyShares, []string{"x25519"}) {
		t.Errorf("%+v", h)
	}
}

func TestResumption(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		client := &tls.Config{MaxVersion: version, ClientSessionCache: tls.NewLRUClientSessionCache(4)}
		server := &tls.Config{Certificates: certificates()}
		server.SetSessionTicketKeys([][32]byte{{1}})
		var keys []byte // of both connections: crypto/tls writes none of TLS 1.2 resumed
		for i, resumed := range []bool{false, true} {
			k := converse(t, client, server)
			k.keys.Write(keys)
			keys = bytes.Clone(k.keys.Bytes())
			c, list := k.read(k.log(t), 0)
			h := c.Hello()
			if h.Resumed != resumed || (h.PSKs > 0 || h.TicketOffered) != resumed || h.EarlyOffered {
				t.Errorf("version %x, connection %d: %+v", version, i, h)
			}
			if !bytes.Equal(application(list, lab.Down), answer) {
				t.Errorf("version %x, connection %d: the application data is another", version, i)
			}
			blind, _ := k.read(nil, 0) // whether it was resumed shows without secrets
			if blind.Hello().Resumed != resumed {
				t.Errorf("version %x, connection %d, without secrets: %+v", version, i, blind.Hello())
			}
		}
	}
}

func TestTLS12(t *testing.T) {
	const up, down = "ClientHello ClientKeyExchange ChangeCipherSpec Finished ApplicationData Alert",
		"ServerHello Certificate ServerKeyExchange ServerHelloDone NewSessionTicket ChangeCipherSpec Finished ApplicationData Alert"
	for _, suite := range tls.CipherSuites() {
		if !strings.Contains(suite.Name, "GCM") && !strings.Contains(suite.Name, "CHACHA20") || suite.ID>>8 == 0x13 {
			continue
		}
		t.Run(suite.Name, func(t *testing.T) {
			k := converse(t, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite.ID}, NextProtos: []string{"h2"}},
				&tls.Config{NextProtos: []string{"h2"}, CurvePreferences: []tls.CurveID{tls.CurveP256}})
			h := check(t, k, up, down)
			if h.Version != "1.2" || h.Suite != suite.Name || h.Group != "secp256r1" || h.ALPN != "h2" || h.Resumed || !h.ServerFinished {
				t.Errorf("%+v", h)
			}
			blind, list := k.read(nil, 0)
			if got := strings.Join(kinds(list, lab.Up), " "); got != "ClientHello ClientKeyExchange ChangeCipherSpec Finished! ApplicationData! Alert!" {
				t.Error(got)
			}
			if d := cmp.Diff(h, blind.Hello()); d != "" { // TLS 1.2 hides none of it
				t.Error(d)
			}
		})
	}
}

// TestSuiteWithoutAEAD: its records are told, and not opened.
func TestSuiteWithoutAEAD(t *testing.T) {
	k := converse(t, &tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA}}, &tls.Config{})
	_, list := k.read(k.log(t), 0)
	if got := strings.Join(kinds(list, lab.Down), " "); !strings.HasSuffix(got, "Finished! ApplicationData! Alert!") {
		t.Error(got)
	}
}

// TestChunkingDoesNotMatter: bytes in pieces of any size say the same, and so
// does each direction alone.
func TestChunkingDoesNotMatter(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		k := converse(t, &tls.Config{MaxVersion: version}, &tls.Config{})
		log := k.log(t)
		c, want := k.read(log, 0)
		for _, size := range []int{1, 7, 64, 1448} {
			got, list := k.read(log, size)
			if d := cmp.Diff(want, list); d != "" {
				t.Fatalf("pieces of %d: %s", size, d)
			}
			if d := cmp.Diff(c.Hello(), got.Hello()); d != "" {
				t.Errorf("pieces of %d: %s", size, d)
			}
		}
	}
}

// TestDirectionsAreIndependent: in TLS 1.3 the client's data opens before any of
// the server's was read.
func TestDirectionsAreIndependent(t *testing.T) {
	k := converse(t, &tls.Config{}, &tls.Config{})
	slices.SortStableFunc(k.writes, func(a, b write) int { return int(a.d) - int(b.d) })
	check(t, k, up13, down13)
}

// TestOffsets: messages cover the direction's bytes, without a gap but where a
// record holds several.
func TestOffsets(t *testing.T) {
	k := converse(t, &tls.Config{}, &tls.Config{})
	_, list := k.read(k.log(t), 100)
	var end, sent [2]int64
	for _, w := range k.writes {
		sent[w.d] += int64(len(w.data))
	}
	for _, m := range list {
		if m.Begin > end[m.Way] || m.End < end[m.Way] || m.Begin >= m.End {
			t.Errorf("%v %s covers [%d, %d) after %d", m.Way, m.Kind, m.Begin, m.End, end[m.Way])
		}
		end[m.Way] = m.End
	}
	if end != sent {
		t.Errorf("messages end at %v of %v bytes", end, sent)
	}
}

func TestLost(t *testing.T) {
	k := converse(t, &tls.Config{}, &tls.Config{})
	c := wire.NewConn(nil)
	c.Lost(lab.Up)
	if list := c.Read(lab.Up, k.writes[0].data); list != nil {
		t.Errorf("after Lost: %v", list)
	}
	if list := c.Read(lab.Down, k.writes[1].data); len(list) == 0 {
		t.Error("the other direction is lost as well")
	}
}

func TestBroken(t *testing.T) {
	for _, tt := range []struct{ name, data, problem string }{
		{"no TLS", "GET / HTTP/1.1\r\n", "type 71, want 20 to 23"},
		{"version", "\x16\x02\x00\x00\x00", "version 0x02"},
		{"length", "\x16\x03\x01\x48\x01", "length 18433, at most 18432 is allowed"},
	} {
		c := wire.NewConn(nil)
		list := c.Read(lab.Up, []byte(tt.data))
		if len(list) != 1 || list[0].Kind != wire.Broken || !strings.Contains(list[0].Problem, tt.problem) {
			t.Errorf("%s: %+v", tt.name, list)
		}
		if list := c.Read(lab.Up, []byte(tt.data)); list != nil {
			t.Errorf("%s: read on: %+v", tt.name, list)
		}
	}
}

// TestLongHandshake: a message beyond the limit is told, and what follows it is read.
func TestLongHandshake(t *testing.T) {
	var m wire.Messages
	size := 200 << 10
	data := append([]byte{11, byte(size >> 16), byte(size >> 8), byte(size)}, make([]byte, size)...)
	data = append(data, 20, 0, 0, 1, 7)
	var list []wire.Message
	for len(data) > 0 {
		n := min(len(data), 1000)
		list = append(list, m.Read(lab.Down, wire.LevelHandshake, data[:n])...)
		data = data[n:]
	}
	if len(list) != 2 || list[0].Opened || list[0].Size != size+4 || !strings.Contains(list[0].Problem, "only up to 131072") ||
		list[1].Kind != wire.Finished || list[1].Begin != int64(size+4) || list[1].End != int64(size+9) {
		t.Errorf("%+v", list)
	}
}

func TestNamesAreThoseOfCryptoTLS(t *testing.T) {
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if got := wire.SuiteName(s.ID); got != s.Name {
			t.Errorf("suite %04x is %s, want %s", s.ID, got, s.Name)
		}
	}
	for id, want := range map[uint16]string{0x11ec: "X25519MLKEM768", 0x1d: "x25519", 0x3a3a: "GREASE", 0xfe01: "0xfe01"} {
		if got := wire.GroupName(id); got != want {
			t.Errorf("group %04x is %s, want %s", id, got, want)
		}
	}
}
