package quic

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/samewire/samewire/internal/lab"
)

const earlyLabel = "CLIENT_EARLY_TRAFFIC_SECRET"

// LabelPSK is the label of a line of the key log that is ours: the pre-shared key
// of a session ticket, with the SHA-256 of the ticket in the place of the client
// random. Go's crypto/tls logs no CLIENT_EARLY_TRAFFIC_SECRET; it follows from
// this key and the ClientHello.
const LabelPSK = "SAMEWIRE_RESUMPTION_PSK"

// maxHello is up to how many bytes a ClientHello is kept to derive the secret of
// early data.
const maxHello = 64 << 10

// earlySecret is the secret of 0-RTT packets: as logged, or else by the pre-shared
// key of the ticket.
func (c *Conn) earlySecret(p *Packet) []byte {
	secret := c.secret(earlyLabel, p)
	if secret != nil || p.Waits {
		return secret
	}
	hello := firstMessage(c.hello)
	ticket := firstIdentity(hello)
	if ticket == nil {
		return nil
	}
	psk := c.secrets.Secret(LabelPSK, sha256.Sum256(ticket))
	for _, s := range []*suite{aes128, aes256} {
		if len(psk) == s.hash().Size() {
			return earlySecret(s.hash, psk, hello)
		}
	}
	return nil
}

// earlySecret derives client_early_traffic_secret (RFC 8446, section 7.1) from a
// pre-shared key and the ClientHello.
func earlySecret(h func() hash.Hash, psk, hello []byte) []byte {
	n := h().Size()
	early, err := hkdf.Extract(h, psk, make([]byte, n))
	if err != nil {
		return nil
	}
	transcript := h()
	transcript.Write(hello)
	return expandLabel(h, early, "c e traffic", transcript.Sum(nil), n)
}

// firstMessage is the first handshake message of a CRYPTO stream; nil: it is not
// whole.
func firstMessage(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	n := 4 + int(b[1])<<16 + int(b[2])<<8 + int(b[3])
	if len(b) < n {
		return nil
	}
	return b[:n]
}

// firstIdentity is the ticket of early data: the first identity of a ClientHello's
// pre_shared_key (RFC 8446, sections 4.1.2, 4.2.10 and 4.2.11); nil: none.
func firstIdentity(hello []byte) []byte {
	r := reader{rest: hello}
	r.bytes(4 + 2 + 32)       // header, version, random
	r.bytes(uint64(r.byte())) // session ID
	r.bytes(r.uint16())       // suites
	r.bytes(uint64(r.byte())) // compression
	all := reader{rest: r.bytes(r.uint16())}
	for !r.short && !all.short && len(all.rest) > 0 {
		kind, value := all.uint16(), reader{rest: all.bytes(all.uint16())}
		if kind != 41 {
			continue
		}
		value.uint16() // length of the list
		if identity := value.bytes(value.uint16()); !value.short {
			return identity
		}
	}
	return nil
}

func (r *reader) uint16() uint64 {
	b := r.bytes(2)
	if b == nil {
		return 0
	}
	return uint64(binary.BigEndian.Uint16(b))
}

// keepHello keeps the CRYPTO data of the client's first message.
func (c *Conn) keepHello(d lab.Direction, p *Packet, data []byte) {
	if d == lab.Up && p.Kind == Initial {
		c.hello = append(c.hello, data[:min(len(data), maxHello-len(c.hello))]...)
	}
}
