package quic

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

var (
	client1 = netip.MustParseAddrPort("198.18.0.1:5000")
	client2 = netip.MustParseAddrPort("198.18.0.1:6000")
	server1 = netip.MustParseAddrPort("198.18.0.2:443")
)

// handled reads a datagram by the connection that it belongs to.
func (x *Demux) handled(d lab.Direction, client netip.AddrPort, payload []byte) (*Conn, []Packet) {
	from, to := client, server1
	if d == lab.Down {
		from, to = to, from
	}
	c := x.Find(d, from, to, payload)
	if c == nil {
		return nil, nil
	}
	return c, c.Read(d, payload)
}

// A connection stays one when its client's address changes, with IDs of the
// handshake and of NEW_CONNECTION_ID, and also for a client without IDs.
func TestDemuxFollowsAClient(t *testing.T) {
	f := craft(t)
	x := NewDemux(f.secrets)
	datagrams := f.packets(Version1)
	for i, d := range datagrams {
		if _, p := x.handled(d.way, client1, d.payload); !opened(p) {
			t.Fatalf("datagram %d: %s", i, summary(p))
		}
	}
	c := x.Conns[0]
	k := [2]*keys{c.oneRTT[0].now, c.oneRTT[1].now}
	fresh := []byte{0xee, 0xee}
	issue := append(append([]byte{0x18, 1, 0, 2}, fresh...), make([]byte, 16)...)
	x.handled(lab.Down, client1, sealShort(k[1], clientID, false, 1, 2, issue))
	for i, packet := range [][]byte{
		sealShort(k[0], serverID, false, 1, 2, ping), // rebound by a NAT
		sealShort(k[0], fresh, false, 2, 2, ping),    // migrated
	} {
		if found, p := x.handled(lab.Up, client2, packet); found != c || !opened(p) {
			t.Errorf("packet %d from elsewhere: %s", i, summary(p))
		}
	}
	if found, p := x.handled(lab.Down, client2, sealShort(k[1], clientID, false, 2, 2, ping)); found != c || !opened(p) {
		t.Errorf("an answer to there: %s", summary(p))
	}
	if len(x.Conns) != 1 {
		t.Errorf("%d connections, want 1", len(x.Conns))
	}
}

// Connections that share a pair of addresses are told apart; damaged first
// packets begin none.
func TestDemuxTellsConnectionsApart(t *testing.T) {
	a, b := craft(t), craft(t)
	x := NewDemux(nil)
	first := a.packets(Version1)
	second := sealLong(initialKeys(Version1, serverID)[0], Initial, Version1, serverID, []byte{7, 7}, 0,
		cryptoFrame(b.data[lab.Up][levelInitial], 0, 1000))
	damaged := append([]byte(nil), first[0].payload...)
	damaged[7] ^= 1
	c, _ := x.handled(lab.Up, client1, damaged)
	again, p := x.handled(lab.Up, client1, first[0].payload)
	if c == nil || again != c || !opened(p) {
		t.Fatalf("the first packet after a damaged one: %s", summary(p))
	}
	if found, _ := x.handled(lab.Up, client1, damaged); found != c {
		t.Error("a damaged packet is of another connection")
	}
	other, p := x.handled(lab.Up, client1, second)
	if other == c || !opened(p) {
		t.Fatalf("another connection: %s", summary(p))
	}
	for i, d := range first[1:3] {
		if found, p := x.handled(d.way, client1, d.payload); found != c || p[0].Problem != "" {
			t.Errorf("datagram %d: %s", i+1, summary(p))
		}
	}
	if c, _ := x.handled(lab.Down, client2, first[2].payload[:40]); c != x.Conns[0] {
		t.Error("a client's ID was not found from another address")
	}
	if c, _ := x.handled(lab.Up, netip.MustParseAddrPort("198.18.0.9:1"), []byte{0x40, 0, 0, 0}); c != nil {
		t.Error("a 1-RTT packet of nothing known began a connection")
	}
}

func TestDemuxIsBounded(t *testing.T) {
	x := NewDemux(nil)
	for i := range maxConns + 100 {
		id := fmt.Appendf(nil, "%08d", i)
		payload := append([]byte{0xc0, 0, 0, 0, 1, 8}, id...)
		c, _ := x.handled(lab.Up, netip.AddrPortFrom(client1.Addr(), uint16(i)), append(payload, 0, 0, 0, 0))
		if (c != nil) != (i < maxConns) {
			t.Fatalf("datagram %d: %v", i, c)
		}
	}
}
