package origin

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// certificateLife is how long a self-made certificate is valid.
const certificateLife = 90 * 24 * time.Hour

// certificate reads the configuration's certificate, or makes one.
func certificate(cfg lab.ServerConfig) (tls.Certificate, error) {
	if len(cfg.CertPEM) == 0 {
		return selfMade(cfg.Addr.Addr(), time.Now())
	}
	c, err := tls.X509KeyPair(cfg.CertPEM, cfg.KeyPEM)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read server certificate: %w", err)
	}
	return c, nil
}

// selfMade makes a certificate for the server's address and the names by which
// it is known on its own machine and in a lab. P-256 is what every client has.
func selfMade(addr netip.Addr, now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make server key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "samewire"},
		DNSNames:     []string{"localhost", lab.ServerName},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.Add(certificateLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if addr.IsValid() && !addr.IsUnspecified() && !addr.IsLoopback() {
		template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make server certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func certificatePEM(c tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
}

// tlsConfigs returns the configurations for TCP and for QUIC, which has TLS 1.3
// always (RFC 9001).
func tlsConfigs(cfg lab.ServerConfig, cert tls.Certificate) (tcp, quic *tls.Config, err error) {
	quic = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, KeyLogWriter: cfg.Tracing.Keys}
	tcp = quic.Clone()
	switch cfg.TLS {
	case "1.3":
		tcp.MinVersion, tcp.MaxVersion = tls.VersionTLS13, tls.VersionTLS13
	case "1.2":
		tcp.MinVersion, tcp.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	default:
		return nil, nil, fmt.Errorf("TLS version %q: want 1.3 or 1.2", cfg.TLS)
	}
	return tcp, quic, nil
}
