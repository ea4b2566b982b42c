package quic

import (
	"bytes"
	"context"
	cryptotls "crypto/tls"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// flights is what a TLS handshake of QUIC says, by direction and level, without
// any packets, and its secrets.
type flights struct {
	data    [2]map[cryptotls.QUICEncryptionLevel][]byte
	lines   []byte // of the key log
	secrets *keylog.Log
}

var update = flag.Bool("update", false, "write testdata/handshake.txt anew")

const (
	levelInitial   = cryptotls.QUICEncryptionLevelInitial
	levelHandshake = cryptotls.QUICEncryptionLevelHandshake
)

// kept is a handshake as craft made it once: fuzzers need the same bytes in each
// process.
func kept(t testing.TB) *flights {
	t.Helper()
	lines, err := os.ReadFile("testdata/handshake.txt")
	if *update {
		lines = craft(t).written()
		err = os.WriteFile("testdata/handshake.txt", lines, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &flights{data: [2]map[cryptotls.QUICEncryptionLevel][]byte{{}, {}}}
	var secrets []byte
	for line := range strings.Lines(string(lines)) {
		var d, level int
		var digits string
		if _, err := fmt.Sscanf(line, "data %d %d %s", &d, &level, &digits); err == nil {
			f.data[d][cryptotls.QUICEncryptionLevel(level)] = unhex(t, digits)
		} else {
			secrets = append(secrets, line...)
		}
	}
	if f.secrets, err = keylog.Parse(secrets); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *flights) written() []byte {
	b := bytes.Clone(f.lines)
	for d := range f.data {
		for _, level := range slices.Sorted(maps.Keys(f.data[d])) {
			b = fmt.Appendf(b, "data %d %d %x\n", d, level, f.data[d][level])
		}
	}
	return b
}

// craft lets two ends of crypto/tls talk.
func craft(t testing.TB) *flights {
	t.Helper()
	h := newHub()
	clientTLS, serverTLS := tlsConfigs(t, h)
	clientTLS.MinVersion, serverTLS.MinVersion = cryptotls.VersionTLS13, cryptotls.VersionTLS13
	clientTLS.ClientSessionCache = nil
	ends := [2]*cryptotls.QUICConn{
		cryptotls.QUICClient(&cryptotls.QUICConfig{TLSConfig: clientTLS}), cryptotls.QUICServer(&cryptotls.QUICConfig{TLSConfig: serverTLS}),
	}
	f := &flights{data: [2]map[cryptotls.QUICEncryptionLevel][]byte{{}, {}}}
	for d, end := range ends {
		end.SetTransportParameters([]byte{0x01, 0x02, 0x40 + byte(d), 0x64, 0x0e, 0x01, 0x04})
		if err := end.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for done := 0; done < 2; {
		done = 0
		for d, end := range ends {
			e := end.NextEvent()
			switch e.Kind {
			case cryptotls.QUICNoEvent:
				done++
			case cryptotls.QUICWriteData:
				f.data[d][e.Level] = append(f.data[d][e.Level], e.Data...)
				if err := ends[1-d].HandleData(e.Level, bytes.Clone(e.Data)); err != nil {
					t.Fatal(err)
				}
			case cryptotls.QUICTransportParametersRequired:
				t.Fatal("transport parameters were given")
			}
		}
	}
	f.lines, f.secrets = h.secret.Bytes(), h.secrets(t)
	return f
}

// cryptoFrame is a CRYPTO frame with part of a stream.
func cryptoFrame(data []byte, from, to int) []byte {
	to = min(to, len(data))
	n := to - from
	return append([]byte{0x06, 0x40 | byte(from>>8), byte(from), 0x40 | byte(n>>8), byte(n)}, data[from:to]...)
}

var (
	clientID = []byte{0xc1, 0xc2, 0xc3}
	serverID = []byte{0x51, 0x52, 0x53, 0x54, 0x55}
	firstID  = []byte{0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8}
)

// handshakePackets are the packets of a handshake whose server answers in the
// version given; the client begins with version 1.
func (f *flights) packets(version uint32) []sentDatagram {
	secret := func(label string, d lab.Direction) *keys {
		c := NewConn(f.secrets)
		c.tls.Read(lab.Up, 0, f.data[lab.Up][levelInitial])
		c.tls.Read(lab.Down, 0, f.data[lab.Down][levelInitial])
		return newKeys(suiteOf(c.Hello().SuiteID), version, f.secrets.Secret(label, c.Hello().ClientRandom))
	}
	hello, answer := f.data[lab.Up][levelInitial], f.data[lab.Down][levelInitial]
	rest, finished := f.data[lab.Down][levelHandshake], f.data[lab.Up][levelHandshake]
	first, chosen := initialKeys(Version1, firstID), initialKeys(version, firstID)
	app := [2]*keys{secret(oneRTTLabels[0], lab.Up), secret(oneRTTLabels[1], lab.Down)}
	ping := []byte{1, 0, 0, 0}
	return []sentDatagram{
		{way: lab.Up, payload: sealLong(first[0], Initial, Version1, firstID, clientID, 0, cryptoFrame(hello, 0, 700))},
		{way: lab.Up, payload: sealLong(first[0], Initial, Version1, firstID, clientID, 1, cryptoFrame(hello, 700, 16000))},
		{way: lab.Down, payload: append(
			sealLong(chosen[1], Initial, version, clientID, serverID, 0, cryptoFrame(answer, 0, 16000)),
			sealLong(secret(handshakeLabels[1], lab.Down), Handshake, version, clientID, serverID, 0, cryptoFrame(rest, 0, 16000))...)},
		{way: lab.Up, payload: append(
			sealLong(chosen[0], Initial, version, serverID, clientID, 2, ping),
			sealLong(secret(handshakeLabels[0], lab.Up), Handshake, version, serverID, clientID, 0, cryptoFrame(finished, 0, 16000))...)},
		{way: lab.Up, payload: sealShort(app[0], serverID, false, 0, 2, ping)},
		{way: lab.Down, payload: sealShort(app[1], clientID, false, 0, 2, ping)},
	}
}

func opened(packets []Packet) bool {
	return len(packets) > 0 && count(packets, func(p *Packet) bool { return p.Opened && p.Problem == "" }) == len(packets)
}

// Compatible version negotiation (RFC 9369, section 4): the server answers a
// client of version 1 in version 2, with Initial keys from the same DCID.
func TestServerChangesTheVersion(t *testing.T) {
	f := craft(t)
	for _, version := range []uint32{Version1, Version2} {
		c := NewConn(f.secrets)
		for i, d := range f.packets(version) {
			if p := c.Read(d.way, d.payload); !opened(p) {
				t.Errorf("version %s: datagram %d: %s", versionName(version), i, summary(p))
			}
		}
		if c.Version() != version || !c.Hello().ClientFinished {
			t.Errorf("version %s: %s, %+v", versionName(version), versionName(c.Version()), c.Hello())
		}
		if p := c.Params(lab.Down); p == nil || p.MaxIdleTimeout.Milliseconds() != 0x164 {
			t.Errorf("parameters of the server: %+v", p)
		}
	}
}

// A client may begin anew after a version negotiation from the same DCID: what it
// said before does not count.
func TestVersionNegotiationFromTheSameID(t *testing.T) {
	before, f := craft(t), craft(t)
	c := NewConn(f.secrets)
	hello := cryptoFrame(before.data[lab.Up][levelInitial], 0, 16000)
	c.Read(lab.Up, sealLong(initialKeys(Version2, firstID)[0], Initial, Version2, firstID, clientID, 0, hello))
	old := c.Hello().ClientRandom
	c.Read(lab.Down, append([]byte{0x80, 0, 0, 0, 0, 3, 0xc1, 0xc2, 0xc3, 8}, append(firstID, 0, 0, 0, 1)...))
	for i, d := range f.packets(Version1) {
		if p := c.Read(d.way, d.payload); !opened(p) {
			t.Errorf("datagram %d: %s", i, summary(p))
		}
	}
	if c.Hello().ClientRandom == old || !c.Hello().ClientFinished || c.Version() != Version1 {
		t.Errorf("%+v", c.Hello())
	}
}

// Whatever the order of the datagrams, those that wait open when they are read
// again, and those that waited for nothing else were not told twice.
func TestDatagramsThatWait(t *testing.T) {
	f := craft(t)
	datagrams := f.packets(Version1)
	for _, order := range [][]int{{1, 0, 2, 3, 4, 5}, {2, 1, 0, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {4, 2, 0, 5, 1, 3}} {
		c := NewConn(f.secrets)
		var waits []int
		messages := 0
		read := func(i int) {
			d := datagrams[i]
			p := c.Read(d.way, d.payload)
			again := false
			for j := range p {
				messages += len(p[j].Messages)
				again = again || p[j].Waits
				if !p[j].Opened && !p[j].Waits {
					t.Errorf("order %v: datagram %d: %s", order, i, summary(p))
				}
			}
			if again {
				waits = append(waits, i)
			}
		}
		for _, i := range order {
			before := c.Keys()
			read(i)
			for c.Keys() != before {
				before = c.Keys()
				list := waits
				waits = nil
				for _, j := range list {
					read(j)
				}
			}
		}
		if len(waits) > 0 || messages != 7 {
			t.Errorf("order %v: datagrams %v still wait; %d messages, want 7", order, waits, messages)
		}
	}
}

func TestWithoutSecrets(t *testing.T) {
	f := craft(t)
	c := NewConn(nil)
	for i, d := range f.packets(Version1) {
		for _, p := range c.Read(d.way, d.payload) {
			if p.Opened != (p.Kind == Initial) || p.Waits || !p.Opened && p.Problem == "" {
				t.Errorf("datagram %d: %+v", i, p)
			}
		}
	}
	if c.Hello().ServerName != lab.ServerName || c.Hello().SuiteID == 0 {
		t.Errorf("%+v", c.Hello())
	}
}
