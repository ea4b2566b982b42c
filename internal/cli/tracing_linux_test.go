package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A pipe that nobody reads is not waited for: not even a signal would end that.
func TestSecretsIntoAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(keyLogVariable, name)
	done := make(chan string)
	go func() {
		var said bytes.Buffer
		_, closer := tracingFromEnvironment(&said)
		_ = closer.Close()
		done <- said.String()
	}()
	select {
	case said := <-done:
		if !strings.Contains(said, "warning: SSLKEYLOGFILE: no secrets are written") {
			t.Errorf("said %q", said)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for somebody to read")
	}
}
