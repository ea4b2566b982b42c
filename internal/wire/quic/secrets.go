package quic

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
)

var (
	handshakeLabels = [2]string{"CLIENT_HANDSHAKE_TRAFFIC_SECRET", "SERVER_HANDSHAKE_TRAFFIC_SECRET"}
	oneRTTLabels    = [2]string{"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"}
)

// secret finds a secret by the ClientHello's random; without it p says why.
func (c *Conn) secret(label string, p *Packet) []byte {
	hello := c.Hello()
	if hello.ClientSize == 0 {
		p.Problem, p.Waits = "its keys are not known: the ClientHello was not read", true
		return nil
	}
	secret := c.secrets.Secret(label, hello.ClientRandom)
	if secret == nil {
		p.Problem = fmt.Sprintf("its keys are not known: no %s in the key log", label)
	}
	return secret
}

// suite is the one that the server chose; without it p says why.
func (c *Conn) suite(p *Packet) *suite {
	id := c.Hello().SuiteID
	if id == 0 {
		p.Problem, p.Waits = "its keys are not known: the ServerHello was not read", true
		return nil
	}
	s := suiteOf(id)
	if s == nil {
		p.Problem = fmt.Sprintf("cipher suite 0x%04x cannot be read", id)
	}
	return s
}

// derive makes the keys of a level for a version; false where they are not
// known, and p says why.
func (c *Conn) derive(level *levelKeys, version uint32, label string, p *Packet) bool {
	if level.keys != nil && level.version == version {
		return true
	}
	secret, suites := c.levelSecret(label, p)
	if secret == nil || suites == nil {
		return false
	}
	p.Problem = ""
	*level = levelKeys{version: version}
	for _, s := range suites {
		if k := newKeys(s, version, secret); k != nil {
			level.keys = append(level.keys, k)
		}
	}
	if level.keys == nil {
		p.Problem = fmt.Sprintf("%s in the key log has %d bytes: not those of the suite", label, len(secret))
	}
	return level.keys != nil
}

// levelSecret finds the secret of a level, and the suites that it may be for.
func (c *Conn) levelSecret(label string, p *Packet) ([]byte, []*suite) {
	if p.Kind == ZeroRTT {
		secret := c.earlySecret(p)
		return secret, earlySuites(len(secret))
	}
	s := c.suite(p)
	if s == nil {
		return nil, nil
	}
	return c.secret(label, p), []*suite{s}
}

// earlySuites are the suites that a secret of 0-RTT of n bytes may be for: that
// of the session resumed, which no message names.
func earlySuites(n int) []*suite {
	if n == 48 {
		return []*suite{aes256}
	}
	return []*suite{aes128, chacha}
}

// phasesOf are the keys of 1-RTT packets; nil where they are not known, and p
// says why.
func (c *Conn) phasesOf(d lab.Direction, p *Packet) *phases {
	if have := c.oneRTT[d]; have != nil && have.version == c.Version() {
		return have
	}
	s := c.suite(p)
	if s == nil {
		return nil
	}
	secret := c.secret(oneRTTLabels[d], p)
	if secret == nil {
		return nil
	}
	c.oneRTT[d] = newPhases(s, c.Version(), secret)
	if c.oneRTT[d] == nil {
		p.Problem = fmt.Sprintf("%s in the key log has %d bytes: not those of the suite", oneRTTLabels[d], len(secret))
	}
	return c.oneRTT[d]
}
