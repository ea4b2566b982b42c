package lab

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/netip"
	"time"
)

// ServerName is the name by which clients of a lab know the server.
const ServerName = "server.samewire.test"

// Port is the server's port, for TCP and UDP.
const Port = 443

// The hosts' addresses, from the ranges for benchmarking (RFC 2544 and 5180).
var (
	ClientAddr4 = netip.MustParseAddr("198.18.0.1")
	ServerAddr4 = netip.MustParseAddr("198.18.0.2")
	ClientAddr6 = netip.MustParseAddr("2001:2::1")
	ServerAddr6 = netip.MustParseAddr("2001:2::2")
)

// Hosts returns the addresses of client and server on a path of family f.
func (f Family) Hosts() (client, server netip.Addr) {
	if f == IPv6 {
		return ClientAddr6, ServerAddr6
	}
	return ClientAddr4, ServerAddr4
}

// Aliases is the prefix of the addresses that the path's address translation
// gives to the client (see Rebind). The server's host has a route to it.
func (f Family) Aliases() netip.Prefix {
	if f == IPv6 {
		return netip.MustParsePrefix("2001:2:0:1::/64")
	}
	return netip.MustParsePrefix("198.19.0.0/16")
}

// Alias is the nth address of Aliases, n from 1 to 65535.
func (f Family) Alias(n uint16) netip.Addr {
	b := f.Aliases().Addr().AsSlice()
	b[len(b)-2], b[len(b)-1] = byte(n>>8), byte(n)
	a, _ := netip.AddrFromSlice(b)
	return a
}

// Authority is the certificate authority of one study. Its keys follow from
// the study's seed, so that two runs of one study send the same bytes; they
// protect nothing and must never be trusted outside the lab.
type Authority struct {
	RootPEM []byte // for clients
	CertPEM []byte // the server's certificate
	KeyPEM  []byte // the server's key
}

// NewAuthority makes the authority of a seed. Ed25519 signatures have one
// length and need no randomness (RFC 8032), so that replays are alike.
func NewAuthority(seed uint64) (Authority, error) {
	// Virtual time starts in 2009, so certificates are valid before that.
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "samewire lab"},
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA:         true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	rootKey := authorityKey(seed, "root")
	rootDER, err := x509.CreateCertificate(nil, root, root, rootKey.Public(), rootKey)
	if err != nil {
		return Authority{}, fmt.Errorf("make root certificate: %w", err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: ServerName},
		DNSNames:     []string{ServerName},
		NotBefore:    root.NotBefore, NotAfter: root.NotAfter,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	key := authorityKey(seed, "server")
	leafDER, err := x509.CreateCertificate(nil, leaf, root, key.Public(), rootKey)
	if err != nil {
		return Authority{}, fmt.Errorf("make server certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Authority{}, fmt.Errorf("encode server key: %w", err)
	}
	return Authority{
		RootPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		CertPEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		KeyPEM:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

func authorityKey(seed uint64, use string) ed25519.PrivateKey {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	sum := sha256.Sum256(append([]byte("samewire authority "+use), b[:]...))
	return ed25519.NewKeyFromSeed(sum[:])
}
