package cli

import (
	"bytes"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/load"
	"github.com/samewire/samewire/internal/origin"
	"github.com/samewire/samewire/internal/site/sockets"
)

var keyLine = regexp.MustCompile(`^([A-Z_0-9]+) ([0-9a-f]{64}) [0-9a-f]+$`)

// TestSecretsAndQLogs holds that both sides leave the secrets of each connection,
// and a qlog of each QUIC connection, to its end.
func TestSecretsAndQLogs(t *testing.T) {
	for _, p := range lab.Protocols() {
		dir := t.TempDir()
		var closers []io.Closer
		side := func(name string) lab.Tracing {
			t.Setenv(keyLogVariable, filepath.Join(dir, name))
			t.Setenv(qlogVariable, filepath.Join(dir, "qlogs"))
			tracing, closer := tracingFromEnvironment(t.Output())
			closers = append(closers, closer)
			return tracing
		}
		server, err := origin.Start(sockets.Net{}, lab.ServerConfig{Addr: netip.MustParseAddrPort("127.0.0.1:0"), TLS: "1.3", Tracing: side("server")})
		if err != nil {
			t.Fatal(err)
		}
		report := load.Get(t.Context(), sockets.Net{}, lab.ClientConfig{
			Addr: server.Addr(), ServerName: lab.ServerName, RootPEM: server.Certificate(), Protocol: p, TLS: "1.3",
			Load: lab.Load{Objects: 4, Size: 1000}, Connections: 2, Tracing: side("client"),
		})
		if err := server.Close(); err != nil || report.Requests[0].Outcome != lab.OK || report.Connections < 1 {
			t.Fatalf("%v, %+v", err, report)
		}
		for _, c := range closers {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		client, want := randoms(t, filepath.Join(dir, "client")), report.Connections
		if p == lab.H1 { // the second may be given up while it is opened: nothing is left to do
			want = len(client)
		}
		if len(client) != want || want == 0 || len(randoms(t, filepath.Join(dir, "server"))) < len(client) {
			t.Errorf("%s: secrets of %d connections at the client, want %d", p, len(client), want)
		}
		qlogs, _ := filepath.Glob(filepath.Join(dir, "qlogs", "*_*.sqlog"))
		if p == lab.H3 && len(qlogs) != 2*want || p != lab.H3 && len(qlogs) > 0 {
			t.Errorf("%s: qlogs %v", p, qlogs)
		}
		for _, name := range qlogs {
			b, err := os.ReadFile(name)
			if err != nil || !bytes.Contains(b, []byte("connection_closed")) {
				t.Errorf("%s is not whole: %d bytes, %v", name, len(b), err)
			}
		}
	}
}

// randoms has the client randoms of a key log, with their number of lines.
func randoms(t *testing.T, name string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for line := range strings.Lines(string(b)) {
		m := keyLine.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("%q is no line of a key log", line)
		}
		found[m[2]]++
	}
	return found
}

// TestSecretsThatCannotBeWritten are said once, and break nothing.
func TestSecretsThatCannotBeWritten(t *testing.T) {
	for _, name := range []string{"/dev/full", filepath.Join(t.TempDir(), "no", "such", "folder")} {
		t.Setenv(keyLogVariable, name)
		var said bytes.Buffer
		tracing, closer := tracingFromEnvironment(&said)
		if tracing.Keys != nil {
			for range 3 {
				if _, err := tracing.Keys.Write([]byte("A 1 2\n")); err != nil {
					t.Error(err)
				}
			}
		}
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
		if strings.Count(said.String(), "warning: SSLKEYLOGFILE") != 1 {
			t.Errorf("%s: said %q", name, said.String())
		}
	}
}
