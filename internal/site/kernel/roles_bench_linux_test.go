package kernel

import (
	"encoding/binary"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// tally is what arrived of a flood.
type tally struct {
	Count         int
	Rate          float64       // packets a second, by the kernel's stamps, once the flood has settled
	Min, P50, P99 time.Duration // from before the sending to the kernel's stamp
}

// settling is what a flood takes to fill a path's queue.
const settling = 500 * time.Millisecond

// playTally counts what playFlood sends.
func playTally(args []string) error {
	fd, err := blocking(net.ListenUDP("udp", testAddr(args[0])))
	if err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1); err != nil {
		return err
	}
	urgently() // what is measured is the path, not this program
	var mu sync.Mutex
	delays := make([]time.Duration, 0, 1<<21)
	var first, last time.Duration
	var settled int // the first packet after settling
	var since time.Duration
	go func() {
		b, oob := make([]byte, 2000), make([]byte, 100)
		for {
			_, ctl, _, _, err := unix.Recvmsg(fd, b, oob, 0)
			if err != nil {
				return
			}
			mu.Lock()
			last = stamp(oob[:ctl])
			if len(delays) == 0 {
				first = last
			}
			if settled == 0 && last-first > settling {
				settled, since = len(delays), last
			}
			delays = append(delays, last-time.Duration(binary.NativeEndian.Uint64(b)))
			mu.Unlock()
		}
	}()
	return serveLines(func(string) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		t := tally{Count: len(delays)}
		if settled > 0 && last > since {
			t.Rate = float64(len(delays)-1-settled) / (last - since).Seconds()
		}
		if len(delays) > 0 {
			sorted := slices.Sorted(slices.Values(delays))
			t.Min, t.P50, t.P99 = sorted[0], sorted[len(sorted)/2], sorted[len(sorted)*99/100]
		}
		return t, nil
	})
}

// playFlood sends datagrams for so many milliseconds, of so many payload bytes,
// so many a second, so many at once. Each says when it was sent.
func playFlood(args []string) error {
	var v [4]int
	for i := range v {
		n, err := strconv.Atoi(args[i+1])
		if err != nil {
			return err
		}
		v[i] = n
	}
	fd, err := blocking(net.DialUDP("udp", nil, testAddr(args[0])))
	if err != nil {
		return err
	}
	ms, size, rate, once := v[0], v[1], v[2], v[3]
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, size); err != nil {
		return err
	}
	return serveLines(func(string) (any, error) {
		urgently()
		b := make([]byte, size*once)
		n := ms * rate / 1000
		start := time.Now()
		for i := 0; i < n; i += once {
			due := start.Add(time.Duration(i) * time.Second / time.Duration(rate))
			if d := time.Until(due); d > 0 {
				time.Sleep(d)
			}
			now := uint64(time.Now().UnixNano())
			for k := range once {
				binary.NativeEndian.PutUint64(b[k*size:], now)
			}
			if _, err := unix.Write(fd, b); err != nil {
				return nil, err
			}
		}
		time.Sleep(300 * time.Millisecond) // the last are still under way
		return n, nil
	})
}
