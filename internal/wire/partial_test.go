package wire

import (
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
)

// What a part of a connection does not show is null: its first flight where the
// capture begins later, and what acknowledgements tell where none were captured.
func TestPartsOfAConnection(t *testing.T) {
	whole := []seg{
		{lab.Up, 0, 0, ip.SYN, 0, 0, 0}, {lab.Down, 0, 20, ip.SYN, 0, 0, 1}, {lab.Up, 20, 40, 0, 1, 200, 1},
		{lab.Down, 40, 60, 0, 1, 1000, 201}, {lab.Down, 41, 61, 0, 1001, 1000, 201}, {lab.Up, 61, 80, 0, 201, 0, 2001},
		{lab.Down, 81, 101, 0, 2001, 1000, 201}, {lab.Up, 101, 121, 0, 201, 0, 3001},
	}
	var oneWay []seg
	for _, s := range whole {
		if s.way == lab.Down {
			oneWay = append(oneWay, s)
		}
	}
	for name, tt := range map[string]struct {
		segs                   []seg
		first, inFlight, again bool // known
	}{
		"whole":             {whole, true, true, true},
		"without its start": {whole[2:], false, true, true},
		"the server's side": {oneWay, false, false, true},
		"its middle":        {oneWay[1:], false, false, true},
	} {
		var f lab.Wire
		Digest(capture(tt.segs), About{}, &f)
		s := f.Conversations[0].Down
		if (s.FirstFlight != nil) != tt.first || (s.Retransmitted != nil) != tt.again || s.Payload == nil || *s.Payload != 3000 {
			t.Errorf("%s: first flight known: %v, want %v; %+v", name, s.FirstFlight != nil, tt.first, s)
		}
		if tt.first && *s.FirstFlight != 2000 {
			t.Errorf("%s: first flight of %d, want 2000", name, *s.FirstFlight)
		}
		if u := f.Down.Usage; (u.InFlightPeak != nil) != tt.inFlight || (s.Recoveries != nil) != tt.inFlight {
			t.Errorf("%s: in flight known: %v, want %v; recoveries %+v", name, u.InFlightPeak != nil, tt.inFlight, s.Recoveries)
		}
	}
}

// Datagrams of no connection, such as those of a server alone, do not say that
// nothing was in flight.
func TestNothingInFlightIsKnownOfNoConnection(t *testing.T) {
	c := capture([]seg{{lab.Down, 0, 20, ip.SYN, 0, 1000, 0}})
	c.Packets[0].Data[9] = ip.ProtoUDP
	r := Read(c)
	var f lab.Wire
	r.usage(About{}, &f)
	if u := f.Down.Usage; len(r.Connections) != 0 || u == nil || u.InFlightPeak != nil || u.InFlight != nil {
		t.Errorf("%d connections, %+v", len(r.Connections), u)
	}
}
