package cli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/site/kernel"
	"github.com/samewire/samewire/internal/wire"
)

// A server and a client that know nothing of samewire: openssl's s_server, which
// leaves no secrets, and curl, which leaves those that SSLKEYLOGFILE asks for.

type opensslServer struct{ dir string }

func (s opensslServer) Start(_ context.Context, host *kernel.Host, run lab.Run) (kernel.Running, error) {
	cfg, err := run.ServerConfig()
	if err != nil {
		return nil, err
	}
	cert, key := filepath.Join(s.dir, "cert"), filepath.Join(s.dir, "key")
	if err := errors.Join(os.WriteFile(cert, cfg.CertPEM, 0o600), os.WriteFile(key, cfg.KeyPEM, 0o600)); err != nil {
		return nil, err
	}
	c := host.Command(context.Background(), "openssl", "s_server", "-quiet", "-www", "-accept", fmt.Sprint(lab.Port), "-cert", cert, "-key", key)
	if err := c.Start(); err != nil {
		return nil, err
	}
	return foreignProgram{c}, awaitListener(c.PID())
}

// awaitListener waits until a process's network has a listener at the lab's port:
// s_server does not say when it listens.
func awaitListener(pid int) error {
	listens := regexp.MustCompile(fmt.Sprintf(`(?m)^ *\d+: [0-9A-F]+:%04X [0-9A-F]+:0000 0A `, lab.Port))
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for _, family := range []string{"tcp", "tcp6"} {
			table, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, family))
			if listens.Match(table) {
				return nil
			}
		}
	}
	return errors.New("nothing listens")
}

type curlClient struct {
	args []string
	said *[]byte
}

func (c curlClient) Prepare(_ context.Context, host *kernel.Host, run lab.Run) (kernel.Prepared, error) {
	_, server := run.Cell.Path.Family.Hosts()
	addr := netip.AddrPortFrom(server, lab.Port)
	args := append([]string{
		"-sSk", "--retry-connrefused", "--retry", "5", "--max-time", "10",
		"--resolve", fmt.Sprintf("%s:%d:%s", lab.ServerName, lab.Port, server), fmt.Sprintf("https://%s:%d/", lab.ServerName, addr.Port()),
	}, c.args...)
	return &curlRun{foreignProgram{host.Command(context.Background(), "curl", args...)}, c.said}, nil
}

type foreignProgram struct{ cmd *kernel.Cmd }

func (p foreignProgram) PID() int       { return p.cmd.PID() }
func (p foreignProgram) Side() lab.Side { return lab.Side{} }
func (p foreignProgram) Close() error {
	if p.cmd.PID() == 0 {
		return nil
	}
	return p.cmd.Stop(time.Second)
}

type curlRun struct {
	foreignProgram
	said *[]byte
}

func (r *curlRun) Go(context.Context) (lab.Report, error) {
	began := time.Now()
	said, err := r.cmd.CombinedOutput()
	*r.said = said
	return lab.Report{Connections: 1, Duration: time.Since(began).Seconds()}, err
}

// TestForeignProgramsAreRead holds that the packets of programs that know nothing
// of samewire are decrypted, where one of them honours SSLKEYLOGFILE: then the
// round trips to the first byte can be told, for TLS 1.3 and 1.2.
func TestForeignProgramsAreRead(t *testing.T) {
	if err := kernel.Check(); err != nil {
		needKernel(t, err.Error())
	}
	for _, name := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	for _, tt := range []struct {
		name  string
		args  []string
		trips float64
		tls   string
	}{
		{"TLS 1.3", nil, 3, "1.3"},
		{"TLS 1.2", []string{"--tls-max", "1.2"}, 4, "1.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said []byte
			site := kernel.Site{Server: opensslServer{t.TempDir()}, Client: curlClient{tt.args, &said}}
			run := runOf(lab.Cell{Path: notedPath(t, "short", "rtt 20ms"), Stack: lab.DefaultStack, Site: lab.Kernel, Protocol: lab.H1}, 1)
			hosts, err := site.Open(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = hosts.Close() }()
			if err := hosts.Serve(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := hosts.Get(t.Context()); err != nil {
				t.Fatalf("%v: %s", err, said)
			}
			checkForeign(t, hosts.Facts().Wire, hosts.Capture(), tt.trips, tt.tls)
		})
	}
}

func checkForeign(t *testing.T, f lab.Wire, c *wire.Capture, trips float64, version string) {
	t.Helper()
	if len(c.Secrets) == 0 {
		t.Error("curl left no secrets")
	}
	if f.RoundTrips == nil || *f.RoundTrips != trips || f.NotDecodable != 0 {
		t.Errorf("round trips %v, want %v; %d packets not decodable", f.RoundTrips, trips, f.NotDecodable)
	}
	if len(f.Conversations) != 1 || f.Conversations[0].Handshake == nil || f.Conversations[0].Handshake.TLS != version {
		t.Errorf("conversations %+v, want one of TLS %s", f.Conversations, version)
	}
}
