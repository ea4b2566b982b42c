package lab

import "testing"

func TestRandom(t *testing.T) {
	for name, tt := range map[string]struct {
		way  Way
		want bool
	}{
		"nothing":              {Way{}, false},
		"rate and queue":       {Way{Rate: 1e6, Queue: Queue{Packets: 10}, Limit: 20}, false},
		"loss":                 {Way{Loss: Loss{Share: 0.01}}, true},
		"bursts":               {Way{Loss: Loss{Gilbert: Gilbert{P: 0.1, R: 0.5, Bad: 1}}}, true},
		"jitter":               {Way{Jitter: Jitter{Spread: 1}}, true},
		"duplicate":            {Way{Duplicate: Chance{Share: 0.1}}, true},
		"corrupt":              {Way{Corrupt: Chance{Share: 0.1}}, true},
		"reorder":              {Way{Reorder: Reorder{Share: 0.1}}, true},
		"a rule of chance":     {Way{Rules: "drop udp 1%"}, true},
		"a rule without":       {Way{Rules: "drop udp nth 2"}, false},
		"rules not understood": {Way{Rules: "drip"}, true},
	} {
		if got := (Path{Up: tt.way}).Random(); got != tt.want {
			t.Errorf("%s, up: %v", name, got)
		}
		if got := (Path{Down: tt.way}).Random(); got != tt.want {
			t.Errorf("%s, down: %v", name, got)
		}
	}
}
