package ip

import (
	"encoding/binary"
	"fmt"
)

// TCP's options (IANA).
const (
	optionEnd           = 0
	optionNothing       = 1
	optionMSS           = 2
	optionWindowScale   = 3
	optionSACKPermitted = 4
	optionSACK          = 5
	optionTimestamps    = 8
)

// maxWindowScale is the largest shift that is used (RFC 7323, section 2.3).
const maxWindowScale = 14

func parseTCP(k *Packet, b body) error { // RFC 9293, section 3.1
	if len(b.data) < 20 {
		return fmt.Errorf("read TCP header: cut short at %d bytes of 20", len(b.data))
	}
	h := b.data
	header := int(h[12]>>4) * 4
	if header < 20 || header > b.size {
		return fmt.Errorf("read TCP header: length %d in an IP payload of %d, want 20 or more", header, b.size)
	}
	rest, ok := b.rest(header)
	if !ok {
		return fmt.Errorf("read TCP header: cut short at %d bytes of %d", len(h), header)
	}
	k.setPorts(h)
	k.TCP = TCP{
		Seq: binary.BigEndian.Uint32(h[4:]), Ack: binary.BigEndian.Uint32(h[8:]),
		Flags: h[13], Window: binary.BigEndian.Uint16(h[14:]), WindowScale: -1,
	}
	k.TCP.options(h[20:header])
	k.Payload, k.Size = rest.data, rest.size
	return nil
}

// options reads the options up to the first that is malformed, as Linux does:
// the segment counts all the same.
func (t *TCP) options(b []byte) {
	for len(b) > 0 && b[0] != optionEnd {
		if b[0] == optionNothing {
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			return
		}
		t.option(b[0], b[2:b[1]])
		b = b[b[1]:]
	}
}

// option reads one option. One whose length is not its kind's is left out.
func (t *TCP) option(kind byte, v []byte) {
	switch {
	case kind == optionMSS && len(v) == 2:
		t.MSS = binary.BigEndian.Uint16(v)
	case kind == optionWindowScale && len(v) == 1:
		t.WindowScale = int8(min(v[0], maxWindowScale))
	case kind == optionSACKPermitted && len(v) == 0:
		t.SACKPermitted = true
	case kind == optionSACK && len(v)%8 == 0:
		t.SACKs = min(len(v)/8, len(t.SACK))
		for i := range t.SACKs {
			t.SACK[i] = Block{binary.BigEndian.Uint32(v[8*i:]), binary.BigEndian.Uint32(v[8*i+4:])}
		}
	case kind == optionTimestamps && len(v) == 8:
		t.Timestamps = true
		t.TSval, t.TSecr = binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:])
	}
}
