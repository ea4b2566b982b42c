package kernel

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// play plays one part: args are the server's address and the part's own.
func play(name string, args []string) error {
	parts := map[string]func([]string) error{
		"echo": playEcho, "ping": playPing,
		"collect": playCollect, "send": playSend, "burst": playBurst,
		"give": playGive, "fetch": playFetch, "sysctl": playSysctl,
		"flood": playFlood, "tally": playTally,
		"sink": playSink, "source": playSource, "busy": playBusy,
		"check": playCheck, "private-tun": playPrivateTUN, "no-tun": playNoTUN, "locked-tun": playLockedTUN, "limit": playLimit, "read-only": playReadOnly,
		"samewire": playSamewire, "worker": playWorker, "cycle": playCycle,
	}
	part, ok := parts[name]
	if !ok {
		return fmt.Errorf("no part %q", name)
	}
	return part(args)
}

// serveLines says that the part is ready, and answers each line of standard
// input, until it ends.
func serveLines(answer func(word string) (any, error)) error {
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		v, err := answer(lines.Text())
		if err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
			return err
		}
	}
	return lines.Err()
}

const testPort = "4000"

// blocking returns a plain descriptor of the connection. Go's own would go
// through its scheduler, whose delays are not the lab's.
func blocking(c *net.UDPConn, err error) (fd int, _ error) {
	if err != nil {
		return 0, err
	}
	f, err := c.File()
	if err != nil {
		return 0, err
	}
	fd = int(f.Fd()) // and thereby blocking
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 8<<20); err != nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8<<20)
		if err != nil {
			return 0, err
		}
	}
	return unix.Dup(fd) // not to be closed with f
}

func testAddr(server string) *net.UDPAddr {
	return net.UDPAddrFromAddrPort(netip.MustParseAddrPort(net.JoinHostPort(server, testPort)))
}

// playEcho sends back every datagram.
func playEcho(args []string) error {
	fd, err := blocking(net.ListenUDP("udp", testAddr(args[0])))
	if err != nil {
		return err
	}
	go func() {
		runtime.LockOSThread()
		prompt()
		b := make([]byte, 2000)
		for {
			n, from, err := unix.Recvfrom(fd, b, 0)
			if err != nil {
				return
			}
			_ = unix.Sendto(fd, b[:n], 0, from)
		}
	}()
	return serveLines(func(string) (any, error) { return nil, nil })
}

// pings are round-trip times.
type pings struct {
	Min, P50, P99, Max time.Duration
	Lost               int // not answered within a second
}

// playPing sends datagrams to an echo, one after the other: how many.
func playPing(args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	fd, err := blocking(net.DialUDP("udp", nil, testAddr(args[0])))
	if err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		runtime.LockOSThread()
		prompt()
		second := unix.NsecToTimeval(1e9)
		if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &second); err != nil {
			return nil, err
		}
		var all []time.Duration
		var got pings
		b := make([]byte, 100)
		for range n {
			start := time.Now()
			if _, err := unix.Write(fd, b); err != nil {
				return nil, err
			}
			_, err := unix.Read(fd, b)
			for err == unix.EINTR { // the kernel does not go on by itself where there is a time limit
				_, err = unix.Read(fd, b)
			}
			if err == unix.EAGAIN {
				got.Lost++
				continue
			}
			if err != nil {
				return nil, err
			}
			all = append(all, time.Since(start))
		}
		if slices.Sort(all); len(all) > 0 {
			got.Min, got.P50, got.P99, got.Max = all[0], all[len(all)/2], all[len(all)*99/100], all[len(all)-1]
		}
		return got, nil
	})
}

// collection is what a collector has received.
type collection struct {
	Seqs []uint32
	Took time.Duration // from the first packet to the last, by the kernel's stamps
}

// playCollect receives what playSend sends, acknowledges it, and answers with
// what came.
func playCollect(args []string) error {
	fd, err := blocking(net.ListenUDP("udp", testAddr(args[0])))
	if err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	var mu sync.Mutex
	var got collection
	go func() {
		b, oob := make([]byte, 2000), make([]byte, 100)
		var first time.Duration
		for {
			_, ctl, _, from, err := unix.Recvmsg(fd, b, oob, 0)
			if err != nil {
				return
			}
			_ = unix.Sendto(fd, b[:4], 0, from)
			at := stamp(oob[:ctl])
			mu.Lock()
			if len(got.Seqs) == 0 {
				first = at
			}
			got.Seqs = append(got.Seqs, binary.BigEndian.Uint32(b))
			got.Took = at - first
			mu.Unlock()
		}
	}()
	return serveLines(func(string) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		return got, nil
	})
}

// stamp is when the kernel received a packet.
func stamp(oob []byte) time.Duration {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 || len(messages[0].Data) < 16 {
		panic("no time stamp")
	}
	d := messages[0].Data
	return time.Duration(binary.NativeEndian.Uint64(d))*time.Second + time.Duration(binary.NativeEndian.Uint64(d[8:]))
}

// playSend sends numbered datagrams: how many, of how many payload bytes, at
// how many bit/s. Without a rate it goes by what the collector acknowledges, so
// that nothing overflows on a busy machine.
func playSend(args []string) error {
	var v [3]int
	for i := range v {
		n, err := strconv.Atoi(args[i+1])
		if err != nil {
			return err
		}
		v[i] = n
	}
	n, size, rate := v[0], v[1], v[2]
	fd, err := blocking(net.DialUDP("udp", nil, testAddr(args[0])))
	if err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		b := make([]byte, size)
		start := time.Now()
		for i := range n {
			if rate > 0 {
				due := start.Add(time.Duration(int64(i) * int64(size) * 8 * int64(time.Second) / int64(rate)))
				if d := time.Until(due); d > time.Millisecond {
					time.Sleep(d)
				}
			}
			binary.BigEndian.PutUint32(b, uint32(i))
			if _, err := unix.Write(fd, b); err != nil {
				return nil, err
			}
			if rate == 0 && i%32 == 31 {
				awaitAck(fd, uint32(i), 50*time.Millisecond)
			}
		}
		if rate > 0 {
			awaitAck(fd, uint32(n-1), 300*time.Millisecond)
		}
		return nil, nil
	})
}

// awaitAck waits for the acknowledgement of datagram seq, which may be lost.
func awaitAck(fd int, seq uint32, patience time.Duration) {
	b := make([]byte, 4)
	tv := unix.NsecToTimeval(int64(patience))
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	for {
		if _, err := unix.Read(fd, b); err != nil || binary.BigEndian.Uint32(b) == seq {
			return
		}
	}
}

// socket is what a TCP socket really uses.
type socket struct {
	CC   string
	Cwnd uint32 // segments
}

// transfer is a TCP transfer.
type transfer struct {
	Bytes          int64
	Took           time.Duration
	Client, Server socket
}

func (t transfer) rate() float64 { return float64(t.Bytes) * 8 / t.Took.Seconds() }

func socketOf(c net.Conn) (s socket, err error) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return s, err
	}
	cerr := raw.Control(func(fd uintptr) {
		s.CC, err = unix.GetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION)
		if err != nil {
			return
		}
		var info *unix.TCPInfo
		if info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); err == nil {
			s.Cwnd = info.Snd_cwnd
		}
	})
	if cerr != nil {
		return s, cerr
	}
	return s, err
}

// playSink takes TCP connections, says what socket it has, and swallows. With
// the word "urgent" it goes before all ordinary programs.
func playSink(args []string) error {
	if slices.Contains(args, "urgent") {
		urgently()
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
				s, _ := socketOf(c)
				_ = json.NewEncoder(c).Encode(s)
				_, _ = io.Copy(io.Discard, struct{ io.Reader }{c})
				_ = c.Close()
			}()
		}
	}()
	return serveLines(func(string) (any, error) { return nil, nil })
}

// playSource sends to a sink over TCP for so many milliseconds, urgently or not.
func playSource(args []string) error {
	ms, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		if slices.Contains(args, "urgent") {
			urgently()
		}
		var t transfer
		c, err := net.Dial("tcp", net.JoinHostPort(args[0], testPort))
		if err != nil {
			return nil, err
		}
		defer func() { _ = c.Close() }()
		if t.Client, err = socketOf(c); err != nil {
			return nil, err
		}
		if err := json.NewDecoder(c).Decode(&t.Server); err != nil {
			return nil, err
		}
		b := make([]byte, 1<<18)
		start := time.Now()
		for time.Since(start) < time.Duration(ms)*time.Millisecond {
			n, err := c.Write(b)
			if err != nil {
				return nil, err
			}
			t.Bytes += int64(n)
		}
		t.Took = time.Since(start)
		return t, nil
	})
}

// playBusy uses the processor for so many milliseconds of its time.
func playBusy(args []string) error {
	ms, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	burn := func(d time.Duration) {
		start, _ := processCPU(os.Getpid())
		for {
			if now, _ := processCPU(os.Getpid()); now-start >= d {
				return
			}
		}
	}
	burn(200 * time.Millisecond) // warming up, which is not part of the load
	return serveLines(func(string) (any, error) {
		burn(time.Duration(ms) * time.Millisecond)
		return nil, nil
	})
}
