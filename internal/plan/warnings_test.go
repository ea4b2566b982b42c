package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWarnings(t *testing.T) {
	const overtake = "packets overtake each other: on the site virtual TCP (h1, h2) is not comparable then, for its stack takes reordering for loss"
	for _, tt := range []struct {
		notation string
		want     []string
	}{
		{"rtt 40ms rate 100mbit", nil},
		{"rtt 200ms rate 100mbit limit 1000", nil}, // 1000 × 1500 B in 100 ms are 120 Mbit/s
		{"rtt 200ms rate 200mbit limit 1000", []string{
			"path p, both directions: limit 1000 caps the rate at about 120mbit (1000 packets of 1500 B in a delay of 100ms; netem's limit counts those under way); the rate is 200mbit",
		}},
		{"rtt 200ms down{limit 1000}", []string{
			"path p, down: limit 1000 caps the rate at about 120mbit (1000 packets of 1500 B in a delay of 100ms; netem's limit counts those under way); there is no other limit of rate",
		}},
		{"limit 1000", nil},
		{"rtt 4ms up{trace cell.trace limit 1} down{trace cell.trace queue 1500B}", []string{ // 4 × 1500 B in 5 ms
			"path p, up: limit 1 caps the rate at about 6mbit (1 packets of 1500 B in a delay of 2ms; netem's limit counts those under way); the trace's mean rate is 9.6mbit",
		}},
		{"rtt 40ms down{trace cell.trace queue 1p}", []string{
			"path p, down: the queue (1p) holds 1.5kB, which is 0.031 of the 48kB that fill the path (9.6mbit × 40ms): one connection cannot keep the rate",
		}},
		{"rtt 100ms up{rate 1gbit} down{rate 100mbit queue 10p}", []string{
			"path p, down: the queue (10p) holds 15kB, which is 0.012 of the 1.25MB that fill the path (100mbit × 100ms): one connection cannot keep the rate",
		}},
		{"rtt 100ms rate 100mbit queue 125kB", nil}, // a tenth
		{"rtt 100ms rate 100mbit queue 0.09bdp", []string{
			"path p, both directions: the queue (0.09bdp) holds 113kB, which is 0.09 of the 1.25MB that fill the path (100mbit × 100ms): one connection cannot keep the rate",
		}},
		{"rtt 100ms rate 100mbit burst 15kB police", nil},
		{"rate 100mbit burst 1000B police", []string{
			"path p, both directions: a packet of more than 1kB never passes the policer: its bucket (burst) holds no more",
		}},
		{"mtu 9000", nil},
		{"down{mtu 65535}", []string{"path p, down: an MTU of 65535 is no internet MTU (above 9000): results say nothing about the internet"}},
		{"rtt 4ms up{outage from 1s to 2s}", []string{"path p, up: an outage: on the site virtual TCP (h1, h2) is not comparable then, for its stack needs a timeout for each segment that was lost"}},
		{"rtt 4ms up{jitter 1ms} down{reorder 1%}", []string{"path p, both directions: " + overtake}},
		{"rtt 4ms jitter 1ms in-order", nil},
		{"loss 1% super", []string{
			"path p, both directions: loss for each super-packet needs segmentation offload, which only the site kernel has; on the others it is the same as for each packet",
		}},
	} {
		p, err := ParsePath("p", tt.notation, testFiles)
		if err != nil {
			t.Errorf("%s: %v", tt.notation, err)
			continue
		}
		if diff := cmp.Diff(tt.want, Warnings(p)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.notation, diff)
		}
	}
}
