package keylog

import "bytes"

// Merge returns the lines of all logs, each line once, in the order in which
// they first come. Both sides of a connection write the same secrets. A last
// line without its end is left out: it is still being written, or was cut.
func Merge(logs ...[]byte) []byte {
	var all []byte
	seen := map[string]bool{}
	for _, log := range logs {
		for line := range bytes.Lines(log) {
			if !bytes.HasSuffix(line, []byte("\n")) || seen[string(line)] {
				continue
			}
			seen[string(line)] = true
			all = append(all, line...)
		}
	}
	return all
}
