package pcapng

import (
	"encoding/binary"
	"io"
)

// The numbers of pcapng's blocks that have to be known to find secrets.
const (
	sectionHeader    = 0x0a0d0d0a
	secretsBlock     = 0x0000000a
	byteOrderMagic   = 0x1a2b3c4d
	tlsKeyLog        = 0x544c534b // the secrets' type
	maxSecrets       = 16 << 20   // bytes that are taken over
	blockHeader      = 8          // type and length
	secretsHeaderLen = 8          // type and length of the secrets
)

// secretsTap reads on and gathers the TLS secrets that pass: pcapgo reads them
// too, but shows them to nobody.
//
// Properties that an edit must keep: what passes is not changed; nothing is
// allocated but what has been read; a length that cannot be ends the gathering.
type secretsTap struct {
	in      io.Reader
	secrets []byte

	head  []byte // of the block that is read: its header, and of secrets theirs
	left  int64  // bytes of the block that are still to come after head
	take  int64  // of these, secrets
	order binary.ByteOrder
	ended bool
}

// Read implements io.Reader.
func (t *secretsTap) Read(p []byte) (int, error) {
	n, err := t.in.Read(p)
	for b := p[:n]; len(b) > 0 && !t.ended; {
		b = t.feed(b)
	}
	return n, err
}

// feed takes the next bytes of a block and returns the rest.
func (t *secretsTap) feed(b []byte) []byte {
	if t.left > 0 {
		n := min(int64(len(b)), t.left)
		if taken := min(n, t.take); taken > 0 {
			if len(t.secrets)+int(taken) <= maxSecrets {
				t.secrets = append(t.secrets, b[:taken]...)
			}
			t.take -= taken
		}
		t.left -= n
		return b[n:]
	}
	need := t.need()
	n := min(len(b), need-len(t.head))
	t.head = append(t.head, b[:n]...)
	if len(t.head) == need && t.need() == need {
		t.begin()
	}
	return b[n:]
}

// need is how many bytes of a block tell what to do with the rest.
func (t *secretsTap) need() int {
	if len(t.head) < blockHeader {
		return blockHeader
	}
	switch {
	case binary.LittleEndian.Uint32(t.head) == sectionHeader: // a palindrome
		return blockHeader + 4
	case t.order != nil && t.order.Uint32(t.head) == secretsBlock:
		return blockHeader + secretsHeaderLen
	}
	return blockHeader
}

// begin has a block's head and finds out what follows.
func (t *secretsTap) begin() {
	if len(t.head) == blockHeader+4 {
		switch uint32(byteOrderMagic) {
		case binary.LittleEndian.Uint32(t.head[blockHeader:]):
			t.order = binary.LittleEndian
		case binary.BigEndian.Uint32(t.head[blockHeader:]):
			t.order = binary.BigEndian
		}
	}
	if t.order == nil {
		t.ended = true
		return
	}
	t.left = int64(t.order.Uint32(t.head[4:])) - int64(len(t.head))
	t.take = 0
	if len(t.head) == blockHeader+secretsHeaderLen && t.order.Uint32(t.head[8:]) == tlsKeyLog {
		t.take = int64(t.order.Uint32(t.head[12:]))
	}
	if t.left < 4 || t.take > t.left-4 { // the length stands at the end once more
		t.ended = true
	}
	t.head = t.head[:0]
}
