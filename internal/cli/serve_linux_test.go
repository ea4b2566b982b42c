package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// freePort returns a port of the loopback device that nobody uses now.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}

// The embedded server and client, alone, over the loopback device.
func TestServeAndGet(t *testing.T) {
	samewire, _ := build(t)
	addr := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	server := exec.CommandContext(ctx, samewire, "serve", "--addr", addr, "--cert-out", ca)
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for ctx.Err() == nil {
		if b, err := os.ReadFile(ca); err == nil && len(b) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	get := func(args ...string) (string, error) {
		said, err := exec.CommandContext(ctx, samewire, append([]string{"get", addr, "--ca", ca}, args...)...).CombinedOutput()
		return string(said), err
	}
	for _, p := range lab.Protocols() {
		said, err := get("--protocol", string(p), "-n", "3", "--size", "100kB", "--json")
		var report lab.Report
		if err := json.Unmarshal([]byte(said), &report); err != nil {
			t.Fatalf("%s: %v: %s", p, err, said)
		}
		if err != nil || len(report.Requests) != 3 || report.Requests[2].Bytes != 100_000 || report.Requests[2].Protocol != string(p) {
			t.Errorf("%s: %v: %s", p, err, said)
		}
		if said, err := get("--protocol", string(p), "--upload", "--warm"); err != nil || !strings.Contains(said, "ok") {
			t.Errorf("%s: upload: %v: %s", p, err, said)
		}
	}
	if said, err := exec.CommandContext(ctx, samewire, "get", addr).CombinedOutput(); err == nil {
		t.Errorf("a certificate that nobody knows was trusted: %s", said)
	}
	// The lab's own server and client start in emulated hosts only.
	for _, command := range []string{"serve", "get"} {
		said, err := exec.CommandContext(ctx, samewire, command, "--lab").CombinedOutput()
		if err == nil || !strings.Contains(string(said), "emulated hosts only") {
			t.Errorf("%s --lab outside a lab: %v: %s", command, err, said)
		}
	}
	cancel()
	if err := server.Wait(); err != nil && !strings.Contains(err.Error(), "canceled") {
		t.Errorf("the server ended with %v", err)
	}
}
