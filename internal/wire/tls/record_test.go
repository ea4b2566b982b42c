package tls_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

var update = flag.Bool("update", false, "record testdata/*.talk anew, with the program openssl")

// scenario is a talk of OpenSSL's s_client and s_server, which say what Go's
// crypto/tls does not: early data, KeyUpdate, and each suite of TLS 1.3.
type scenario struct {
	name           string
	server, client []string
	first          []string // of a server before, whose ticket the client has; nil: no ticket
	same           bool     // it is the same server
	say, reply     string   // lines of the client and the server
}

var scenarios = []scenario{
	{name: "aes256", server: []string{"-ciphersuites", "TLS_AES_256_GCM_SHA384"}, say: "hello\n", reply: "hi\n"},
	{name: "chacha20", server: []string{"-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"}, say: "hello\n", reply: "hi\n"},
	{name: "keyupdate", say: "K\nhello\n", reply: "hi\n"},
	{name: "early-accepted", same: true, first: []string{"-early_data"}, say: "hello\n", reply: "hi\n"},
	{name: "early-rejected", first: []string{"-early_data"}, say: "hello\n", reply: "hi\n"},
	{name: "early-retry", first: []string{"-early_data"}, server: []string{"-groups", "P-384"}, client: []string{"-groups", "P-256:P-384"}, say: "hello\n", reply: "hi\n"},
}

// early is what the early-... scenarios send early.
const early = "this is sent early\n"

// record carries a scenario out. It needs openssl and loopback.
func (s scenario) record(t *testing.T) *talk {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	command(t, "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
		"-subj", "/CN=test", "-keyout", path("key"), "-out", path("cert"))
	serve := func(args []string) (port string, in io.Writer) {
		port = freePort(t)
		return port, start(t, append([]string{"s_server", "-accept", port, "-key", path("key"), "-cert", path("cert")}, args...))
	}
	client := append([]string{"s_client", "-servername", "example.org"}, s.client...)
	var port string
	var in io.Writer
	if s.first != nil { // for its ticket
		port, in = serve(s.first)
		time.Sleep(300 * time.Millisecond)
		say(start(t, append(client, "-connect", "127.0.0.1:"+port, "-sess_out", path("session"))), "first\nQ\n")
		if err := os.WriteFile(path("early"), []byte(early), 0o600); err != nil {
			t.Fatal(err)
		}
		client = append(client, "-sess_in", path("session"), "-early_data", path("early"))
	}
	if !s.same {
		port, in = serve(s.server)
	}
	time.Sleep(300 * time.Millisecond)
	k := &talk{}
	c := start(t, append(client, "-connect", proxy(t, k, port), "-keylogfile", path("keys")))
	say(c, s.say)
	say(in, s.reply)
	say(c, "Q\n")
	keys, err := os.ReadFile(path("keys"))
	if err != nil {
		t.Fatal(err)
	}
	k.keys.Write(keys)
	return k
}

// say types lines, each after a while.
func say(w io.Writer, lines string) {
	for line := range strings.Lines(lines) {
		time.Sleep(500 * time.Millisecond)
		_, _ = io.WriteString(w, line)
	}
	time.Sleep(500 * time.Millisecond)
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

func start(t *testing.T, args []string) io.Writer {
	t.Helper()
	cmd := exec.Command("openssl", args...)
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return in
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// proxy passes one connection on, and notes what it carries.
func proxy(t *testing.T, k *talk, port string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		a, err := l.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err != nil {
			return
		}
		go pass(k, lab.Up, a, b)
		pass(k, lab.Down, b, a)
	}()
	return l.Addr().String()
}

func pass(k *talk, d lab.Direction, from io.Reader, to io.WriteCloser) {
	buffer := make([]byte, 65536)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			k.mu.Lock()
			k.writes = append(k.writes, write{d, bytes.Clone(buffer[:n])})
			k.mu.Unlock()
			_, _ = to.Write(buffer[:n])
		}
		if err != nil {
			_ = to.Close()
			return
		}
	}
}

// load is the recording of a scenario.
func (s scenario) load(t testing.TB) *talk {
	t.Helper()
	path := filepath.Join("testdata", s.name+".talk")
	if rt, ok := t.(*testing.T); ok && *update {
		s.save(rt, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		raw, err := hex.DecodeString(rest)
		switch {
		case word == "up" && err == nil:
			k.writes = append(k.writes, write{lab.Up, raw})
		case word == "down" && err == nil:
			k.writes = append(k.writes, write{lab.Down, raw})
		default:
			fmt.Fprintln(&k.keys, lines.Text())
		}
	}
	return k
}

func (s scenario) save(t *testing.T, path string) {
	k := s.record(t)
	k.mu.Lock()
	defer k.mu.Unlock()
	var b bytes.Buffer
	b.Write(k.keys.Bytes())
	for _, w := range k.writes {
		fmt.Fprintf(&b, "%s %x\n", w.d, w.data)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
