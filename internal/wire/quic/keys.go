package quic

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"

	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"
)

// suite is what a TLS 1.3 cipher suite means for packet protection (RFC 9001,
// section 5).
type suite struct {
	id     uint16
	hash   func() hash.Hash
	length int // of a key, bytes
	chacha bool
}

var (
	aes128 = &suite{0x1301, sha256.New, 16, false}
	aes256 = &suite{0x1302, sha512.New384, 32, false}
	chacha = &suite{0x1303, sha256.New, 32, true}
)

func suiteOf(id uint16) *suite {
	for _, s := range []*suite{aes128, aes256, chacha} {
		if s.id == id {
			return s
		}
	}
	return nil
}

// keys open the packets of one level and direction.
type keys struct {
	suite *suite
	aead  cipher.AEAD
	iv    [12]byte
	block cipher.Block // header protection with AES
	hp    []byte       // header protection with ChaCha20
	mask  [16]byte
}

// label is a label of HKDF-Expand-Label; those of version 2 differ (RFC 9369,
// section 3.3.2).
func label(version uint32, name string) string {
	if version == Version2 {
		return "quicv2 " + name
	}
	return "quic " + name
}

// expand is HKDF-Expand-Label without context.
func expand(h func() hash.Hash, secret []byte, label string, n int) []byte {
	return expandLabel(h, secret, label, nil, n)
}

// expandLabel is HKDF-Expand-Label (RFC 8446, section 7.1).
func expandLabel(h func() hash.Hash, secret []byte, label string, context []byte, n int) []byte {
	info := binary.BigEndian.AppendUint16(nil, uint16(n))
	info = append(info, byte(len("tls13 ")+len(label)))
	info = append(append(info, "tls13 "...), label...)
	info = append(append(info, byte(len(context))), context...)
	key, err := hkdf.Expand(h, secret, string(info), n)
	if err != nil {
		return make([]byte, n) // only for lengths that no suite has
	}
	return key
}

// newKeys derives keys from a traffic secret; nil where the secret's length is
// not the suite's.
func newKeys(s *suite, version uint32, secret []byte) *keys {
	if s == nil || len(secret) != s.hash().Size() {
		return nil
	}
	k := &keys{suite: s}
	k.protect(version, secret)
	hp := expand(s.hash, secret, label(version, "hp"), s.length)
	if s.chacha {
		k.hp = hp
	} else {
		k.block, _ = aes.NewCipher(hp)
	}
	return k
}

// protect sets what opens the payload.
func (k *keys) protect(version uint32, secret []byte) {
	key := expand(k.suite.hash, secret, label(version, "key"), k.suite.length)
	copy(k.iv[:], expand(k.suite.hash, secret, label(version, "iv"), 12))
	if k.suite.chacha {
		k.aead, _ = chacha20poly1305.New(key)
		return
	}
	block, _ := aes.NewCipher(key)
	k.aead, _ = cipher.NewGCM(block)
}

// next derives the keys after a key update from its secret. Header protection
// stays as it is (RFC 9001, section 6.1).
func (k *keys) next(version uint32, secret []byte) *keys {
	n := &keys{suite: k.suite, block: k.block, hp: k.hp}
	n.protect(version, secret)
	return n
}

func nextSecret(s *suite, version uint32, secret []byte) []byte {
	return expand(s.hash, secret, label(version, "ku"), len(secret))
}

// sampleMask is the mask of header protection (RFC 9001, section 5.4) for a
// sample of 16 bytes.
func (k *keys) sampleMask(sample []byte) []byte {
	if k.block != nil {
		k.block.Encrypt(k.mask[:], sample)
		return k.mask[:5]
	}
	clear(k.mask[:5])
	c, err := chacha20.NewUnauthenticatedCipher(k.hp, sample[4:])
	if err != nil {
		return k.mask[:5]
	}
	c.SetCounter(binary.LittleEndian.Uint32(sample))
	c.XORKeyStream(k.mask[:5], k.mask[:5])
	return k.mask[:5]
}

// Salts of Initial keys (RFC 9001, section 5.2; RFC 9369, section 3.3.1).
var (
	salt1 = []byte("\x38\x76\x2c\xf7\xf5\x59\x34\xb3\x4d\x17\x9a\xe6\xa4\xc8\x0c\xad\xcc\xbb\x7f\x0a")
	salt2 = []byte("\x0d\xed\xe3\xde\xf7\x00\xa6\xdb\x81\x93\x81\xbe\x6e\x26\x9d\xcb\xf9\xbd\x2e\xd9")
)

// initialKeys are those of the client and of the server, by lab.Direction.
func initialKeys(version uint32, dcid []byte) [2]*keys {
	salt := salt1
	if version == Version2 {
		salt = salt2
	}
	secret, err := hkdf.Extract(sha256.New, dcid, salt)
	if err != nil {
		return [2]*keys{}
	}
	return [2]*keys{
		newKeys(aes128, version, expand(sha256.New, secret, "client in", 32)),
		newKeys(aes128, version, expand(sha256.New, secret, "server in", 32)),
	}
}

// retryTag says whether the integrity tag of a Retry, its last 16 bytes, fits
// the DCID that it answers (RFC 9001, section 5.8; RFC 9369, section 3.3.3).
func retryTag(version uint32, dcid, packet []byte) bool {
	key := "\xbe\x0c\x69\x0b\x9f\x66\x57\x5a\x1d\x76\x6b\x54\xe3\x68\xc8\x4e"
	nonce := "\x46\x15\x99\xd3\x5d\x63\x2b\xf2\x23\x98\x25\xbb"
	if version == Version2 {
		key = "\x8f\xb4\xb0\x1b\x56\xac\x48\xe2\x60\xfb\xcb\xce\xad\x7c\xcc\x92"
		nonce = "\xd8\x69\x69\xbc\x2d\x7c\x6d\x99\x90\xef\xb0\x4a"
	}
	block, _ := aes.NewCipher([]byte(key))
	aead, err := cipher.NewGCM(block)
	if err != nil || len(packet) < 16 {
		return false
	}
	whole := append([]byte{byte(len(dcid))}, dcid...)
	whole = append(whole, packet[:len(packet)-16]...)
	_, err = aead.Open(nil, []byte(nonce), packet[len(packet)-16:], whole)
	return err == nil
}
