package kernel

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// usage is what both sides have used of the machine up to some instant.
type usage struct{ client, server sideUsage }

// sideUsage is what the programs of one host have used.
type sideUsage struct {
	pid       int                   // the main process; 0 if there is none
	cpu       map[int]time.Duration // of each process of the host
	waits     map[int]time.Duration // of each thread of these processes: ready, but without a core; nil when not known
	udpErrors *int                  // datagrams dropped for want of socket buffer; nil when not known
}

func (h *Hosts) usage() usage {
	var u usage
	if h.running != nil {
		u.server.pid = h.running.PID()
	}
	if h.prepared != nil {
		u.client.pid = h.prepared.PID()
	}
	u.server.read(h.server)
	u.client.read(h.client)
	return u
}

// read takes the counters of all processes of the host, so that a server's
// workers count as the server.
func (u *sideUsage) read(h *Host) {
	u.cpu = map[int]time.Duration{}
	entries := entriesIn(h.inode)
	if _, ok := entries[u.pid]; !ok && u.pid != 0 {
		entries[u.pid] = "" // it has left for a namespace of its own
	}
	for pid, entry := range entries {
		if d, err := processCPU(pid); err == nil {
			u.cpu[pid] = d
		}
		u.addWaits(entry)
	}
	u.udpErrors = h.udpErrors()
}

func (u *sideUsage) addWaits(entry string) {
	if entry == "" {
		return
	}
	for thread, d := range threadWaits(entry) {
		if u.waits == nil {
			u.waits = map[int]time.Duration{}
		}
		u.waits[thread] = d
	}
}

// waited is for how many seconds threads of the side have waited for a core
// since before, together. It is nil when not known. Threads that have ended in
// between are not counted.
func (u sideUsage) waited(before sideUsage) *float64 {
	if u.waits == nil || before.waits == nil {
		return nil
	}
	var sum time.Duration
	for thread, d := range u.waits {
		sum += max(d-before.waits[thread], 0)
	}
	s := sum.Seconds()
	return &s
}

// since fills in what the side has used since before. Processor time stays
// unknown when the main process could not be read both times. A process that
// came and went in between is not counted.
func (u sideUsage) since(before sideUsage, side *lab.Side) {
	side.Waited = u.waited(before)
	if u.udpErrors != nil && before.udpErrors != nil {
		n := *u.udpErrors - *before.udpErrors
		side.UDPReceiveErrors = &n
	}
	_, atStart := before.cpu[u.pid]
	_, atEnd := u.cpu[u.pid]
	if !atStart || !atEnd {
		return
	}
	var sum time.Duration
	for pid, d := range u.cpu {
		sum += d - before.cpu[pid]
	}
	s := sum.Seconds()
	side.CPU = &s
}

// udpErrors reads how many datagrams the host's kernel has dropped for want of
// socket buffer, for both IP versions.
func (h *Host) udpErrors() *int {
	var n int
	err := h.Do(func() error {
		v4, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err != nil {
			return err
		}
		n = snmpValue(string(v4), "Udp:", "RcvbufErrors")
		if v6, err := os.ReadFile("/proc/thread-self/net/snmp6"); err == nil {
			n += snmp6Value(string(v6), "Udp6RcvbufErrors")
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return &n
}

// snmpValue finds a counter in the text of /proc/net/snmp, where each group has
// a line of names and a line of values; 0 if it is not there.
func snmpValue(text, group, name string) int {
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != group {
			continue
		}
		if names == nil {
			names = fields
			continue
		}
		for i := range min(len(names), len(fields)) {
			if names[i] == name {
				n, _ := strconv.Atoi(fields[i])
				return n
			}
		}
	}
	return 0
}

// snmp6Value finds a counter in the text of /proc/net/snmp6, which has a name
// and a value on each line; 0 if it is not there.
func snmp6Value(text, name string) int {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	return 0
}
