package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// bulk is the content of a download: as many bytes as are asked for, the same
// each time.
func bulk(n int64) io.Reader { return io.LimitReader(rand.NewChaCha8([32]byte{7}), n) }

// playGive sends the content of so many bytes to each connection.
func playGive(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(args[0], testPort))
	if err != nil {
		return err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, bulk(n))
				_ = c.Close()
			}()
		}
	}()
	return serveLines(func(string) (any, error) { return nil, nil })
}

// download is what came of one.
type download struct {
	Bytes int64 // right ones, from the start
	Took  time.Duration
	Error string
}

// playFetch downloads from a giver: how many bytes, and how many milliseconds
// that may take.
func playFetch(args []string) error {
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	ms, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		var d download
		start := time.Now()
		limit := time.Duration(ms) * time.Millisecond
		c, err := net.DialTimeout("tcp", net.JoinHostPort(args[0], testPort), limit)
		if err != nil {
			d.Error = err.Error()
			return d, nil
		}
		defer func() { _ = c.Close() }()
		_ = c.SetReadDeadline(start.Add(limit))
		if d.Bytes, err = compare(c, bulk(n)); err != nil {
			d.Error = err.Error()
		}
		d.Took = time.Since(start)
		return d, nil
	})
}

// compare reads both to their ends and returns how many bytes are the same.
func compare(a, b io.Reader) (same int64, err error) {
	var x, y [1 << 16]byte
	for {
		n, err := a.Read(x[:])
		m, _ := io.ReadFull(b, y[:n])
		if !bytes.Equal(x[:n], y[:m]) {
			return same, errors.New("the bytes are not those that were sent")
		}
		same += int64(n)
		if err == io.EOF {
			if _, err := b.Read(y[:1]); err != io.EOF {
				return same, errors.New("it ended early")
			}
			return same, nil
		}
		if err != nil {
			return same, err
		}
	}
}

// playBurst sends numbered datagrams to a collector, many in one call (UDP
// segmentation offload): how many, of how many payload bytes, how many at once.
func playBurst(args []string) error {
	var v [3]int
	for i := range v {
		n, err := strconv.Atoi(args[i+1])
		if err != nil {
			return err
		}
		v[i] = n
	}
	n, size, once := v[0], v[1], v[2]
	fd, err := blocking(net.DialUDP("udp", nil, testAddr(args[0])))
	if err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, size); err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		b := make([]byte, size*once)
		for i := 0; i < n; i += once {
			for k := range once {
				binary.BigEndian.PutUint32(b[k*size:], uint32(i+k))
			}
			if _, err := unix.Write(fd, b); err != nil {
				return nil, fmt.Errorf("send %d datagrams at once: %w", once, err)
			}
			awaitAck(fd, uint32(i+once-1), 20*time.Millisecond)
		}
		return nil, nil
	})
}

// playSysctl makes a setting of the host, as root of its network namespace.
func playSysctl(args []string) error {
	return os.WriteFile("/proc/sys/net/"+args[0], []byte(args[1]), 0)
}
