package store

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

func cpuModel() string { return field("/proc/cpuinfo", "model name", "Model", "cpu model", "uarch") }

func memory() int64 { return kibibytes(field("/proc/meminfo", "MemTotal")) }

// field returns the value of the first line "key : value" of a file whose key
// is one of those given.
func field(name string, keys ...string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), ":")
		for _, k := range keys {
			if ok && strings.TrimSpace(key) == k {
				return strings.TrimSpace(value)
			}
		}
	}
	return ""
}

func kibibytes(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
