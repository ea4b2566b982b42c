package story

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// What was not seen is not told as zero.
func TestUnseenIsNotZero(t *testing.T) {
	if said := handshake(&lab.Handshake{TLS: "1.3"}); strings.Contains(said, "ClientHello") {
		t.Error(said)
	}
	if said := handshake(&lab.Handshake{TLS: "1.3", ClientSize: ptr(512)}); !strings.Contains(said, "ClientHello of 512 B") {
		t.Error(said)
	}
	for want, q := range map[string]lab.QUICFacts{
		"connection IDs of 0 B (client) and unknown length (server)": {Version: "1", ClientID: ptr(0)},
		"connection IDs of 0 B (client) and 8 B (server)":            {Version: "1", ClientID: ptr(0), ServerID: ptr(8)},
	} {
		if said := quicFacts(&q); !strings.Contains(said, want) {
			t.Errorf("%q lacks %q", said, want)
		}
	}
	if said := quicFacts(&lab.QUICFacts{Version: "1"}); strings.Contains(said, "connection IDs") {
		t.Error(said)
	}
}
