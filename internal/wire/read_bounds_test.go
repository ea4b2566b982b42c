package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"runtime"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// What a packet costs is bounded, however many packets carried its bytes before.
func TestSpansOfOverlaps(t *testing.T) {
	var s spans
	const packets, size = 20000, 65000
	for i := range packets {
		want := int64(1)
		if i == 0 {
			want = size
		}
		if fresh := s.add(int64(i), int64(i)+size, i); fresh != want {
			t.Fatalf("packet %d: %d new bytes, want %d", i, fresh, want)
		}
	}
	if len(s.first) != packets || len(s.again) > 2*packets {
		t.Errorf("%d and %d spans of %d packets", len(s.first), len(s.again), packets)
	}
	if list := s.carriers(packets, packets+1); len(list) != packets {
		t.Errorf("%d packets carried byte %d, want all %d", len(list), packets, packets)
	}
}

// Retransmissions that nobody acknowledges are not looked at for ever.
func TestRepeatsWaitBounded(t *testing.T) {
	const up, down = lab.Up, lab.Down
	segs := []seg{{up, 0, 1, syn, 0, 0, 0}, {down, 1, 2, syn, 0, 0, 1}, {down, 2, 3, 0, 1 << 20, 10, 1}}
	for i := range 3 * maxMoves {
		segs = append(segs, seg{down, 3 + i, 4 + i, 0, 100 + i, 1, 1})
	}
	r := Read(capture(segs))
	c := &tcpConn{Connection: r.Connections[0], r: r}
	c.Sent = [2][]Sent{}
	f := &tcpFlight{c: c, d: down}
	for _, i := range c.Events {
		if r.Events[i].Way == down {
			f.send(i)
		}
	}
	if len(f.again) > maxMoves {
		t.Errorf("%d repeated packets wait, want at most %d", len(f.again), maxMoves)
	}
}

// Initials with ever other connection IDs bring keys, but what waits is not read
// again for each of them.
func TestWaitingIsReadAgainBounded(t *testing.T) {
	allocated := func(n int) uint64 {
		c := &Capture{End: time.Hour}
		add := func(payload []byte) {
			p := append(make([]byte, 28), payload...)
			p[0], p[9] = 0x45, 17
			binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
			copy(p[12:], client4.Addr().AsSlice())
			copy(p[16:], server4.Addr().AsSlice())
			binary.BigEndian.PutUint16(p[20:], client4.Port())
			binary.BigEndian.PutUint16(p[22:], server4.Port())
			binary.BigEndian.PutUint16(p[24:], uint16(len(p)-20))
			c.Packets = append(c.Packets, Packet{N: len(c.Packets) + 1, Size: len(p), Data: p})
		}
		handshake := append([]byte("\xe0\x00\x00\x00\x01\x08\x00\x00\x00\x00\x00\x00\x00\x00\x04abcd\x40\x64"), make([]byte, 100)...)
		for i := range n {
			add(sealedInitial(t, uint64(i)))
			add(handshake)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r := Read(c)
		runtime.ReadMemStats(&after)
		if len(r.Connections) != 1 || !r.Events[2*n-2].QUIC[0].Opened || !r.Events[2*n-1].QUIC[0].Waits {
			t.Fatal("the capture is not what it should be")
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(500), allocated(2000); many > 6*few {
		t.Errorf("%d bytes are allocated for 4 times the packets, %d before", many, few)
	}
}

// sealedInitial is a client's Initial with one PING, its number and DCID (RFC
// 9001, section 5.2).
func sealedInitial(t *testing.T, id uint64) []byte {
	t.Helper()
	salt, err := hex.DecodeString("38762cf7f55934b34d179ae6a4c80cadccbb7f0a")
	if err != nil {
		t.Fatal(err)
	}
	dcid := binary.BigEndian.AppendUint64(nil, id)
	secret, _ := hkdf.Extract(sha256.New, dcid, salt)
	expand := func(secret []byte, label string, size int) []byte {
		info := append([]byte{0, byte(size), byte(6 + len(label))}, "tls13 "+label...)
		b, err := hkdf.Expand(sha256.New, secret, string(append(info, 0)), size)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	client := expand(secret, "client in", 32)
	block, _ := aes.NewCipher(expand(client, "quic key", 16))
	aead, _ := cipher.NewGCM(block)
	nonce := expand(client, "quic iv", 12)
	protect, _ := aes.NewCipher(expand(client, "quic hp", 16))

	plain := make([]byte, 20)
	plain[0] = 1
	b := append([]byte{0xc3, 0, 0, 0, 1, 8}, dcid...)
	b = append(b, "\x04abcd"...) // the SCID is always the same: it is one connection
	b = append(b, 0, 0x40, byte(4+len(plain)+aead.Overhead()))
	at := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(id))
	for i := range 4 {
		nonce[8+i] ^= b[at+i]
	}
	b = aead.Seal(b, nonce, plain, b)
	var mask [16]byte
	protect.Encrypt(mask[:], b[at+4:at+20])
	b[0] ^= mask[0] & 0x0f
	for i := range 4 {
		b[at+i] ^= mask[1+i]
	}
	return b
}

// Of a connection whose Initials cannot be read nothing is said of the
// validation of its client's address.
func TestNoValidationWithoutInitials(t *testing.T) {
	for _, kept := range []int{1, 40} { // what is behind the headers, or nothing
		c := &Capture{End: time.Hour}
		for i := range 2 {
			p := append(make([]byte, 28), sealedInitial(t, 1)...)
			p[0], p[9] = 0x45, 17
			binary.BigEndian.PutUint16(p[2:], uint16(len(p)))
			copy(p[12:], client4.Addr().AsSlice())
			copy(p[16:], server4.Addr().AsSlice())
			binary.BigEndian.PutUint16(p[20:], client4.Port())
			binary.BigEndian.PutUint16(p[22:], server4.Port())
			binary.BigEndian.PutUint16(p[24:], uint16(len(p)-20))
			c.Packets = append(c.Packets, Packet{N: i + 1, Size: len(p), Data: p[:len(p)-kept]})
		}
		var f lab.Wire
		Digest(c, About{}, &f)
		if len(f.Conversations) != 1 || f.Conversations[0].QUIC == nil {
			t.Fatalf("conversations: %+v", f.Conversations)
		}
		if q := f.Conversations[0].QUIC; q.Version != "" || q.ReceivedBefore != nil || q.SentBefore != nil {
			t.Errorf("%d bytes cut: version %q, received %v", kept, q.Version, q.ReceivedBefore)
		}
	}
}
