package gauge

import (
	"os"
	"strconv"
	"strings"

	"github.com/samewire/samewire/internal/lab"
)

// unseen counts the datagrams that found no room in any socket of the host at a
// direction's end, until now.
func (l Lab) unseen(d lab.Direction) (n int) {
	host := l.Server
	if d == lab.Down {
		host = l.Client
	}
	_ = host.Do(func() error {
		if b, err := os.ReadFile("/proc/thread-self/net/snmp"); err == nil {
			n += snmp(string(b), "Udp:", "RcvbufErrors")
		}
		if b, err := os.ReadFile("/proc/thread-self/net/snmp6"); err == nil {
			n += snmp6(string(b), "Udp6RcvbufErrors")
		}
		return nil
	})
	return n
}

// snmp finds a counter in the text of /proc/net/snmp, where each group has a
// line of names and then one of values; 0 if it is not there.
func snmp(text, group, name string) int {
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != group {
			continue
		}
		for i, n := range names {
			if n == name && i < len(fields) {
				value, _ := strconv.Atoi(fields[i])
				return value
			}
		}
		names = fields
	}
	return 0
}

// snmp6 finds a counter in the text of /proc/net/snmp6: a name and a value on
// each line; 0 if it is not there.
func snmp6(text, name string) int {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			value, _ := strconv.Atoi(f[1])
			return value
		}
	}
	return 0
}
