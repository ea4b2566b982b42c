package tls

// Extensions (IANA's registry "TLS ExtensionType Values").
const (
	extServerName      = 0
	extGroups          = 10
	extALPN            = 16
	extSessionTicket   = 35
	extPreSharedKey    = 41
	extEarlyData       = 42
	extVersions        = 43
	extKeyShare        = 51
	extTransportParams = 57
)

// maxList is how many entries of a list of a ClientHello are kept, maxName the
// longest server name in bytes (RFC 1035).
const (
	maxList = 256
	maxName = 255
)

// readClientHello reads RFC 8446, section 4.1.2.
func (g *dialog) readClientHello(c *cursor) bool {
	h := &g.hello
	g.legacyVersion = c.u16()
	random := c.bytes(32)
	session := c.vec8().b
	suites := c.vec16()
	c.vec8() // compression methods
	if c.bad {
		return false
	}
	g.clientHello = true
	copy(h.ClientRandom[:], random)
	h.SessionID = append([]byte(nil), session...)
	h.Suites = list16(suites, SuiteName)
	ok := c.extensions(g.clientExtension)
	if len(h.Versions) == 0 {
		h.Versions = []string{versionName(g.legacyVersion)}
	}
	return ok
}

func (g *dialog) clientExtension(id uint16, v *cursor) bool {
	h := &g.hello
	switch id {
	case extServerName:
		h.ServerName = serverName(v)
	case extGroups:
		h.Groups = list16(v.vec16(), GroupName)
	case extALPN:
		h.Offered = protocols(v)
	case extSessionTicket:
		h.TicketOffered = v.more()
	case extPreSharedKey:
		h.PSKs = identities(v)
	case extEarlyData:
		h.EarlyOffered = true
	case extVersions:
		h.Versions = list16(v.vec8(), versionName)
	case extKeyShare:
		h.KeyShares = keyShares(v)
	case extTransportParams:
		h.Params[0] = append([]byte{}, v.b...)
	}
	return !v.bad
}

func list16(v *cursor, name func(uint16) string) []string {
	var list []string
	for v.more() && len(list) < maxList {
		if id := v.u16(); !v.bad {
			list = append(list, name(id))
		}
	}
	return list
}

// serverName reads the host_name (RFC 6066, section 3).
func serverName(v *cursor) string {
	names := v.vec16()
	for names.more() {
		kind, name := names.u8(), names.vec16()
		if kind == 0 && len(name.b) <= maxName {
			return string(name.b)
		}
	}
	return ""
}

// protocols reads the names of ALPN (RFC 7301, section 3.1).
func protocols(v *cursor) []string {
	var list []string
	names := v.vec16()
	for names.more() && len(list) < maxList {
		if name := names.vec8(); !names.bad {
			list = append(list, string(name.b))
		}
	}
	v.bad = v.bad || names.bad
	return list
}

// identities counts the pre-shared keys that are offered (RFC 8446, section 4.2.11).
func identities(v *cursor) int {
	n := 0
	list := v.vec16()
	for list.more() {
		list.vec16()
		list.bytes(4) // obfuscated_ticket_age
		n++
	}
	v.bad = v.bad || list.bad
	return n
}

func keyShares(v *cursor) []string {
	var groups []string
	shares := v.vec16()
	for shares.more() && len(groups) < maxList {
		id := shares.u16()
		if shares.vec16(); !shares.bad {
			groups = append(groups, GroupName(id))
		}
	}
	v.bad = v.bad || shares.bad
	return groups
}
