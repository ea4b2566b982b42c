package tls_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/samewire/samewire/internal/lab"
	wire "github.com/samewire/samewire/internal/wire/tls"
)

const (
	certified = " EncryptedExtensions Certificate CertificateVerify Finished NewSessionTicket "
	yes, no   = "accepted", "rejected"
)

// TestOpenSSL reads what OpenSSL's programs said to each other.
func TestOpenSSL(t *testing.T) {
	tests := map[string]struct {
		up, down string
		suite    string
		early    string // "", yes, no
		resumed  bool
		retry    bool
	}{
		"aes256": {"ClientHello ChangeCipherSpec Finished ApplicationData Alert",
			"ServerHello ChangeCipherSpec" + certified + "ApplicationData", "TLS_AES_256_GCM_SHA384", "", false, false},
		"chacha20": {"ClientHello ChangeCipherSpec Finished ApplicationData Alert",
			"ServerHello ChangeCipherSpec" + certified + "ApplicationData", "TLS_CHACHA20_POLY1305_SHA256", "", false, false},
		"keyupdate": {"ClientHello ChangeCipherSpec Finished KeyUpdate ApplicationData Alert",
			"ServerHello ChangeCipherSpec" + certified + "KeyUpdate ApplicationData", "TLS_AES_256_GCM_SHA384", "", false, false},
		"early-accepted": {"ClientHello ChangeCipherSpec ApplicationData EndOfEarlyData Finished ApplicationData Alert",
			"ServerHello ChangeCipherSpec EncryptedExtensions Finished NewSessionTicket ApplicationData", "TLS_AES_256_GCM_SHA384", yes, true, false},
		"early-rejected": {"ClientHello ChangeCipherSpec ApplicationData Finished ApplicationData Alert",
			"ServerHello ChangeCipherSpec" + certified + "ApplicationData", "TLS_AES_256_GCM_SHA384", no, false, false},
		"early-retry": {"ClientHello ChangeCipherSpec ApplicationData ClientHello Finished ApplicationData Alert",
			"HelloRetryRequest ChangeCipherSpec ServerHello" + certified + "ApplicationData", "TLS_AES_256_GCM_SHA384", no, false, true},
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			k, want := s.load(t), tests[s.name]
			c, list := k.read(k.log(t), 0)
			if got := strings.Join(kinds(list, lab.Up), " "); got != want.up {
				t.Errorf("up %s\nwant %s", got, want.up)
			}
			// Whether the server says goodbye before it is ended is chance.
			if got := strings.TrimSuffix(strings.Join(kinds(list, lab.Down), " "), " Alert"); got != want.down {
				t.Errorf("down %s\nwant %s", got, want.down)
			}
			h := c.Hello()
			if h.Version != "1.3" || h.Suite != want.suite || h.Resumed != want.resumed || h.HelloRetry != want.retry {
				t.Errorf("%+v", h)
			}
			checkEarly(t, h, list, want.early)
		})
	}
}

// checkEarly: data that was sent early is counted, and is application data only
// where the server accepted it.
func checkEarly(t *testing.T, h *wire.Hello, list []wire.Message, want string) {
	t.Helper()
	said, bytes := "hello\n", 0
	if want != "" {
		bytes = len(early)
	}
	if want == yes {
		said = early + said
	}
	if got := string(application(list, lab.Up)); got != said {
		t.Errorf("the client said %q, want %q", got, said)
	}
	if got := string(application(list, lab.Down)); got != "hi\n" {
		t.Errorf("the server said %q", got)
	}
	if h.EarlyOffered != (want != "") || (h.EarlyAccepted != nil) != h.EarlyOffered || h.EarlyBytes != int64(bytes) ||
		h.EarlyAccepted != nil && *h.EarlyAccepted != (want == yes) {
		t.Errorf("early data: %+v, want %q", h, want)
	}
	for _, m := range list {
		if m.Kind == wire.ApplicationData && m.Early != (m.Way == lab.Up && string(m.Data) == early) {
			t.Errorf("early: %+v", m)
		}
	}
}

// TestPartOfTheSecrets: a log without the handshake's secrets opens the
// application data, and one without the early secret opens what follows.
func TestPartOfTheSecrets(t *testing.T) {
	for _, tt := range []struct{ scenario, without, up string }{
		{"aes256", "HANDSHAKE", "ClientHello ChangeCipherSpec ApplicationData! ApplicationData Alert"},
		{"early-accepted", "CLIENT_EARLY", "ClientHello ChangeCipherSpec ApplicationData! Finished ApplicationData Alert"},
		{"early-rejected", "CLIENT_EARLY", "ClientHello ChangeCipherSpec ApplicationData! Finished ApplicationData Alert"},
		{"early-rejected", "HANDSHAKE", "ClientHello ChangeCipherSpec ApplicationData ApplicationData! ApplicationData Alert"},
	} {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == tt.scenario })
		k := scenarios[i].load(t)
		var kept strings.Builder
		for line := range strings.Lines(k.keys.String()) {
			if !strings.Contains(line, tt.without) {
				kept.WriteString(line)
			}
		}
		k.keys.Reset()
		k.keys.WriteString(kept.String())
		_, list := k.read(k.log(t), 0)
		if d := cmp.Diff(tt.up, strings.Join(kinds(list, lab.Up), " ")); d != "" {
			t.Errorf("%s without %s: %s", tt.scenario, tt.without, d)
		}
	}
}
