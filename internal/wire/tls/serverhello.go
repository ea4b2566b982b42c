package tls

import "strings"

// retryRandom is the random of a HelloRetryRequest (RFC 8446, section 4.1.3).
var retryRandom = [32]byte{
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
}

// readServerHello reads RFC 8446, section 4.1.3; retry: section 4.1.4.
func (g *dialog) readServerHello(c *cursor, retry bool) bool {
	h := &g.hello
	version := c.u16()
	random := c.bytes(32)
	c.vec8() // the session ID
	suite := c.u16()
	c.u8() // compression method
	if c.bad {
		return false
	}
	ok := c.extensions(func(id uint16, v *cursor) bool {
		if id == extVersions {
			version = v.u16()
			return !v.bad
		}
		return g.serverExtension(id, v, retry)
	})
	h.Version, h.SuiteID, h.Suite = versionName(version), suite, SuiteName(suite)
	if retry {
		h.HelloRetry = true
	} else {
		g.serverHello = true
		copy(g.serverRandom[:], random)
	}
	if h.EarlyOffered && (retry || h.Version != "1.3") { // RFC 8446, section 4.2.10
		h.EarlyAccepted = new(bool)
	}
	return ok
}

func (g *dialog) serverExtension(id uint16, v *cursor, retry bool) bool {
	switch id {
	case extKeyShare: // a HelloRetryRequest has the group alone
		g.hello.Group = GroupName(v.u16())
	case extPreSharedKey:
		g.hello.Resumed = !retry
	case extALPN: // of TLS 1.2
		g.chooseALPN(v)
	}
	return !v.bad
}

func (g *dialog) chooseALPN(v *cursor) {
	if list := protocols(v); len(list) > 0 {
		g.hello.ALPN = list[0]
	}
}

func (g *dialog) readEncryptedExtensions(c *cursor) bool {
	h := &g.hello
	early := false
	ok := c.extensions(func(id uint16, v *cursor) bool {
		switch id {
		case extALPN:
			g.chooseALPN(v)
		case extEarlyData:
			early = true
		case extTransportParams:
			h.Params[1] = append([]byte{}, v.b...)
		}
		return !v.bad
	})
	if h.EarlyOffered && h.EarlyAccepted == nil {
		h.EarlyAccepted = &early
	}
	return ok
}

// namedCurve is the kind of parameters that name a group (RFC 8422, section 5.4).
const namedCurve = 3

// readServerKeyExchange reads the group of TLS 1.2's ECDHE.
func (g *dialog) readServerKeyExchange(c *cursor) {
	if !strings.HasPrefix(g.hello.Suite, "TLS_ECDHE_") || c.u8() != namedCurve {
		return
	}
	if id := c.u16(); !c.bad {
		g.hello.Group = GroupName(id)
	}
}
