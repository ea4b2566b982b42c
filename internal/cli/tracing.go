package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/samewire/samewire/internal/lab"
)

// The environment variables by which programs are told where to leave what
// makes their packets readable, and what --help says of them.
const (
	keyLogVariable = "SSLKEYLOGFILE"
	qlogVariable   = "QLOGDIR"

	tracingHelp = `
Environment: SSLKEYLOGFILE names a file to which the TLS secrets of all
connections are added, for Wireshark and the like; QLOGDIR a folder in which each
QUIC connection leaves a qlog, ID_client.sqlog or ID_server.sqlog. Whoever can
read the secrets can read the connections.`
)

// tracingFromEnvironment does as SSLKEYLOGFILE and QLOGDIR say. What cannot be
// written there is told to w, and is no reason not to work. Close the result
// when the connections are closed.
func tracingFromEnvironment(w io.Writer) (lab.Tracing, io.Closer) {
	var t lab.Tracing
	all := &tracings{qlogs: qlogFiles{said: w}}
	if name := os.Getenv(keyLogVariable); name != "" {
		// A pipe that nobody reads would be waited for before any signal is heard.
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
		if err != nil {
			fmt.Fprintf(w, "warning: %s: no secrets are written: %v\n", keyLogVariable, err)
		} else {
			all.keys.file, all.keys.said = f, w
			t.Keys = &all.keys
		}
	}
	if dir := os.Getenv(qlogVariable); dir != "" {
		all.qlogs.dir = dir
		t.QLog = all.qlogs.create
	}
	return t, all
}

// tracings is what a program leaves for those who look at its packets.
type tracings struct {
	keys  keyFile
	qlogs qlogFiles
}

// Close implements io.Closer.
func (t *tracings) Close() error { return errors.Join(t.qlogs.close(), t.keys.Close()) }

// keyFile is a key log. A write never fails: crypto/tls would give up the
// connection for it.
type keyFile struct {
	mu   sync.Mutex
	file *os.File
	said io.Writer // for the first error; nil after it
}

// Write implements io.Writer.
func (k *keyFile) Write(line []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil || k.said == nil {
		return len(line), nil
	}
	if _, err := k.file.Write(line); err != nil {
		fmt.Fprintf(k.said, "warning: %s: no more secrets are written: %v\n", keyLogVariable, err)
		k.said = nil
	}
	return len(line), nil
}

// Close implements io.Closer.
func (k *keyFile) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	err := k.file.Close()
	k.file = nil
	return err
}
