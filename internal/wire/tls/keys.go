package tls

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"hash"

	"golang.org/x/crypto/chacha20poly1305"
)

// protection is how a cipher suite protects records, as far as it can be undone
// here.
type protection struct {
	key    int // bytes
	hash   func() hash.Hash
	cipher func(key []byte) (cipher.AEAD, error)
	// explicit: in TLS 1.2 half of the nonce is in the record (RFC 5288); else the
	// nonce is the whole IV and the sequence number, as in TLS 1.3 (RFC 7905).
	explicit bool
}

var (
	aes128   = protection{16, sha256.New, newGCM, true}
	aes256   = protection{32, sha512.New384, newGCM, true}
	chacha20 = protection{chacha20poly1305.KeySize, sha256.New, chacha20poly1305.New, false}
)

// protections has the suites whose records can be opened.
var protections = map[uint16]*protection{
	0x1301: &aes128, 0x1302: &aes256, 0x1303: &chacha20,
	0x009c: &aes128, 0x009e: &aes128, 0x00a8: &aes128, 0xc02b: &aes128, 0xc02f: &aes128,
	0x009d: &aes256, 0x009f: &aes256, 0x00a9: &aes256, 0xc02c: &aes256, 0xc030: &aes256,
	0xcca8: &chacha20, 0xcca9: &chacha20, 0xccaa: &chacha20,
}

func newGCM(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

const (
	nonceSize    = 12
	tagSize      = 16
	masterSecret = 48 // bytes (RFC 5246, section 8.1)
)

// keys open the records of one direction, from one change of keys to the next.
type keys struct {
	protection *protection
	aead       cipher.AEAD
	iv         [nonceSize]byte
	sequence   uint64
	secret     []byte // TLS 1.3: from which the next keys follow
}

// newKeys derives the keys of TLS 1.3 from a traffic secret (RFC 8446, section
// 7.3).
func newKeys(p *protection, secret []byte) (*keys, error) {
	k := &keys{protection: p, secret: secret}
	key, err := expandLabel(p.hash, secret, "key", p.key)
	if err != nil {
		return nil, err
	}
	iv, err := expandLabel(p.hash, secret, "iv", nonceSize)
	if err != nil {
		return nil, err
	}
	copy(k.iv[:], iv)
	k.aead, err = p.cipher(key)
	return k, err
}

// next has the keys after a KeyUpdate (RFC 8446, section 7.2).
func (k *keys) next() (*keys, error) {
	secret, err := expandLabel(k.protection.hash, k.secret, "traffic upd", len(k.secret))
	if err != nil {
		return nil, err
	}
	return newKeys(k.protection, secret)
}

// expandLabel is HKDF-Expand-Label without a context (RFC 8446, section 7.1).
func expandLabel(h func() hash.Hash, secret []byte, label string, size int) ([]byte, error) {
	label = "tls13 " + label
	info := binary.BigEndian.AppendUint16(nil, uint16(size))
	info = append(append(append(info, byte(len(label))), label...), 0)
	return hkdf.Expand(h, secret, string(info), size)
}

// newKeys12 derives the keys of TLS 1.2 for both directions (RFC 5246, section
// 6.3): first the client's, then the server's.
func newKeys12(p *protection, master []byte, client, server [32]byte) (*[2]keys, error) {
	if len(master) != masterSecret {
		return nil, errors.New("master secret of another length than 48 bytes")
	}
	fixed := nonceSize
	if p.explicit {
		fixed = 4
	}
	seed := append(append([]byte("key expansion"), server[:]...), client[:]...)
	block := prf(p.hash, master, seed, 2*p.key+2*fixed)
	var both [2]keys
	for i := range both {
		var err error
		both[i].protection = p
		if both[i].aead, err = p.cipher(block[i*p.key : (i+1)*p.key]); err != nil {
			return nil, err
		}
		copy(both[i].iv[:], block[2*p.key+i*fixed:][:fixed])
	}
	return &both, nil
}

// prf is P_hash of RFC 5246, section 5; seed has the label.
func prf(h func() hash.Hash, secret, seed []byte, size int) []byte {
	mac := hmac.New(h, secret)
	sum := func(parts ...[]byte) []byte {
		mac.Reset()
		for _, p := range parts {
			mac.Write(p)
		}
		return mac.Sum(nil)
	}
	var out []byte
	for a := sum(seed); len(out) < size; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:size]
}

// open13 opens a record of TLS 1.3 (RFC 8446, section 5.2) and appends what was
// in it to dst. The sequence number advances only when it opens.
func (k *keys) open13(dst, header, body []byte) ([]byte, error) {
	out, err := k.aead.Open(dst, k.nonce(), body, header)
	if err == nil {
		k.sequence++
	}
	return out, err
}

// open12 opens a record of TLS 1.2 (RFC 5246, section 6.2.3.3).
func (k *keys) open12(dst, header, body []byte) ([]byte, error) {
	nonce := k.nonce()
	overhead := tagSize
	if k.protection.explicit {
		overhead += 8
	}
	if len(body) < overhead {
		return dst, errors.New("record shorter than its protection")
	}
	if k.protection.explicit {
		nonce = append(append(nonce[:0], k.iv[:4]...), body[:8]...)
		body = body[8:]
	}
	extra := binary.BigEndian.AppendUint64(nil, k.sequence)
	extra = append(extra, header[:3]...)
	extra = binary.BigEndian.AppendUint16(extra, uint16(len(body)-tagSize))
	out, err := k.aead.Open(dst, nonce, body, extra)
	if err == nil {
		k.sequence++
	}
	return out, err
}

// nonce is the IV and the sequence number (RFC 8446, section 5.3).
func (k *keys) nonce() []byte {
	nonce := k.iv
	tail := nonce[nonceSize-8:]
	binary.BigEndian.PutUint64(tail, binary.BigEndian.Uint64(tail)^k.sequence)
	return nonce[:]
}
