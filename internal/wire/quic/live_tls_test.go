package quic

import (
	"crypto/sha256"
	cryptotls "crypto/tls"
	"fmt"
	_ "unsafe" // for go:linkname
)

//go:linkname suitesTLS13 crypto/tls.defaultCipherSuitesTLS13
var suitesTLS13 []uint16

//go:linkname suitesTLS13NoAES crypto/tls.defaultCipherSuitesTLS13NoAES
var suitesTLS13NoAES []uint16

// onlySuite makes crypto/tls, which lets nobody choose among the suites of TLS
// 1.3, offer and accept one only, until the function that it returns is called.
func onlySuite(suite uint16) func() {
	before, beforeNoAES := suitesTLS13, suitesTLS13NoAES
	suitesTLS13, suitesTLS13NoAES = []uint16{suite}, []uint16{suite}
	return func() { suitesTLS13, suitesTLS13NoAES = before, beforeNoAES }
}

// ticketLog logs the pre-shared keys of the tickets that a client stores.
type ticketLog struct {
	cryptotls.ClientSessionCache
	hub *hub
}

func (l *ticketLog) Put(name string, s *cryptotls.ClientSessionState) {
	l.ClientSessionCache.Put(name, s)
	if s == nil {
		return
	}
	ticket, state, err := s.ResumptionState()
	if err != nil {
		return
	}
	b, err := state.Bytes()
	if err != nil {
		return
	}
	// Version, type, suite and time come first, in 13 bytes; see SessionState.Bytes.
	psk := b[14 : 14+int(b[13])]
	fmt.Fprintf(l.hub, "%s %x %x\n", LabelPSK, sha256.Sum256(ticket), psk)
}
