package cli

import (
	"slices"
	"testing"

	"github.com/samewire/samewire/internal/gauge"
)

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		only        []string
		instruments []instrument
		parts       []gauge.Part
		faults      int
	}{
		{[]string{"streams"}, []instrument{streamsInstrument}, nil, 0},
		{[]string{"loss", "delay"}, []instrument{packetsInstrument}, []gauge.Part{gauge.LossPart, gauge.DelayPart}, 0},
		{[]string{"mtu", "capacity"}, []instrument{packetsInstrument, capacityInstrument}, []gauge.Part{gauge.MTUPart}, 0},
		{[]string{"speed", ""}, []instrument{"speed", ""}, nil, 2},
	} {
		i, p, faults := choose(tt.only)
		if !slices.Equal(i, tt.instruments) || !slices.Equal(p, tt.parts) || len(faults) != tt.faults {
			t.Errorf("%q: %q, %q, %q", tt.only, i, p, faults)
		}
	}
}
