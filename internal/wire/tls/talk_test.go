package tls_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
	wire "github.com/samewire/samewire/internal/wire/tls"
)

// talk is what two programs said to each other: each write, in order.
type talk struct {
	mu     sync.Mutex
	writes []write
	keys   bytes.Buffer
}

type write struct {
	d    lab.Direction
	data []byte
}

// end is one end of a connection: what it writes is noted, and waits for the
// other end without blocking, as TCP's buffers have it.
type end struct {
	net.Conn // nil: no addresses, no deadlines
	d        lab.Direction
	talk     *talk
	out, in  *queue
}

func (t *talk) connect() (client, server end) {
	up, down := newQueue(), newQueue()
	return end{d: lab.Up, talk: t, out: up, in: down}, end{d: lab.Down, talk: t, out: down, in: up}
}

func (e end) Write(p []byte) (int, error) {
	e.talk.mu.Lock()
	e.talk.writes = append(e.talk.writes, write{e.d, bytes.Clone(p)})
	e.talk.mu.Unlock()
	return e.out.write(p)
}

func (e end) Read(p []byte) (int, error)         { return e.in.read(p) }
func (e end) Close() error                       { e.out.close(); return nil }
func (e end) SetDeadline(time.Time) error        { return nil }
func (e end) SetReadDeadline(t time.Time) error  { return nil }
func (e end) SetWriteDeadline(t time.Time) error { return nil }

type queue struct {
	mu     sync.Mutex
	more   *sync.Cond
	data   []byte
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *queue) write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.data = append(q.data, p...)
	q.more.Signal()
	return len(p), nil
}

func (q *queue) read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.data) == 0 && !q.closed {
		q.more.Wait()
	}
	if len(q.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p, q.data)
	q.data = q.data[n:]
	return n, nil
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}

func (t *talk) log(tb testing.TB) *keylog.Log {
	tb.Helper()
	log, err := keylog.Parse(t.keys.Bytes())
	if err != nil {
		tb.Fatal(err)
	}
	return log
}

// read reads the talk in pieces of at most size bytes; 0: as it was written.
func (t *talk) read(log *keylog.Log, size int) (*wire.Conn, []wire.Message) {
	c := wire.NewConn(log)
	var list []wire.Message
	for _, w := range t.writes {
		for data := w.data; len(data) > 0; {
			n := len(data)
			if size > 0 {
				n = min(n, size)
			}
			for _, m := range c.Read(w.d, data[:n:n]) {
				m.Data = bytes.Clone(m.Data)
				list = append(list, m)
			}
			data = data[n:]
		}
	}
	return c, list
}

// application is the decrypted application data of a direction.
func application(list []wire.Message, d lab.Direction) []byte {
	var all []byte
	for _, m := range list {
		if m.Way == d && m.Kind == wire.ApplicationData {
			all = append(all[:m.Offset], m.Data...)
		}
	}
	return all
}

// kinds are the kinds of messages of a direction, in order; with "!" where one
// was not opened.
func kinds(list []wire.Message, d lab.Direction) []string {
	var all []string
	for _, m := range list {
		if m.Way != d {
			continue
		}
		k := string(m.Kind)
		if !m.Opened {
			k += "!"
		}
		if len(all) == 0 || all[len(all)-1] != k {
			all = append(all, k)
		}
	}
	return all
}

var (
	question = bytes.Repeat([]byte("question "), 100)
	answer   = bytes.Repeat([]byte("answer "), 10000)
)

// converse has a client and a server of crypto/tls talk: question and answer.
func converse(tb testing.TB, client, server *tls.Config) *talk {
	tb.Helper()
	t := &talk{}
	a, b := t.connect()
	client, server = client.Clone(), server.Clone()
	client.KeyLogWriter = &t.keys
	client.InsecureSkipVerify = true
	if client.ClientSessionCache == nil { // so that the server sends a ticket
		client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	}
	if client.ServerName == "" {
		client.ServerName = "example.org"
	}
	if len(server.Certificates) == 0 {
		server.Certificates = certificates()
	}
	failed := make(chan error, 1)
	go func() {
		c := tls.Server(b, server)
		_, err := io.ReadFull(c, make([]byte, len(question)))
		if err == nil {
			_, err = c.Write(answer)
		}
		_ = c.Close()
		failed <- err
	}()
	c := tls.Client(a, client)
	if _, err := c.Write(question); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, len(answer))); err != nil {
		tb.Fatal(err)
	}
	_ = c.Close()
	if err := <-failed; err != nil {
		tb.Fatal(err)
	}
	return t
}

// certificates are self-signed ones with ECDSA and RSA.
var certificates = sync.OnceValue(func() []tls.Certificate {
	elliptic, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	prime, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return []tls.Certificate{selfSigned(elliptic), selfSigned(prime)}
})

func selfSigned(key crypto.Signer) tls.Certificate {
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"example.org"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(fmt.Sprint("certificate: ", err))
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
