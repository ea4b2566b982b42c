package inproc

import (
	"io"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func TestSecretsOfBothHosts(t *testing.T) {
	h := open(t, path(time.Millisecond, 0, 0), nil)
	for _, host := range []*Host{h.client, h.server} {
		tracing := host.Tracing()
		if tracing.QLog != nil {
			t.Error("a qlog that nobody asked for")
		}
		for _, line := range []string{"CLIENT_RANDOM 01 02\n", "OF " + host.addr.String() + " 02\n"} {
			if _, err := io.WriteString(tracing.Keys, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	client, server := lab.IPv4.Hosts()
	want := "CLIENT_RANDOM 01 02\nOF " + client.String() + " 02\nOF " + server.String() + " 02\n"
	if got := string(h.secrets()); got != want {
		t.Errorf("secrets %q, want %q", got, want)
	}
}
