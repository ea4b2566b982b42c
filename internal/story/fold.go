package story

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
)

// A long fold is cut into pieces, so that a long transfer's course shows: about
// so many for the whole timeline, and none shorter than two round trips and
// leastPiece.
const (
	pieces     = 12
	leastPiece = 50 * time.Millisecond
)

// fold makes the events from up to till one row, or a few.
func (t *timeline) fold(from, till int) {
	if from >= till {
		return
	}
	n := len(t.r.Events)
	piece := max((t.r.Events[n-1].At-t.r.Events[0].At)/pieces, leastPiece, 2*t.rtt)
	for from < till {
		end := from
		for end < till && t.r.Events[end].At-t.r.Events[from].At <= piece {
			end++
		}
		t.rows = append(t.rows, t.folded(from, end))
		from = end
	}
}

// pile is what a fold counts.
type pile struct {
	packets  [2]map[string]int // by direction and name
	bytes    [2]int64
	drops    map[string]int
	messages map[wire.MessageKind]int
	again    int64
	problems int
	conns    map[int]bool
}

func (t *timeline) folded(from, till int) row {
	p := pile{
		packets: [2]map[string]int{{}, {}}, drops: map[string]int{}, messages: map[wire.MessageKind]int{}, conns: map[int]bool{},
	}
	for i := from; i < till; i++ {
		p.add(&t.r.Events[i])
	}
	first, last := t.r.Events[from].At-t.start, t.r.Events[till-1].At-t.start
	parts := p.words()
	if len(t.r.Connections) > 1 && len(p.conns) > 0 {
		parts = append(parts, "of "+p.whose(len(t.r.Connections)))
	}
	if last > first {
		parts = append(parts, span(last-first))
	}
	return row{kind: foldRow, event: from, at: first, till: last, title: "… " + strings.Join(parts, "; ")}
}

func (p *pile) add(e *wire.Event) {
	p.packets[e.Way][kindOf(e)]++
	p.bytes[e.Way] += int64(e.Size)
	if !e.Delivered() && e.Fate.Drop != lab.NotDropped {
		p.drops[string(e.Fate.Drop)]++
	}
	for _, m := range e.Messages {
		p.messages[m.Kind]++
	}
	p.again += int64(e.Again)
	if e.Problem != "" {
		p.problems++
	}
	if e.Conn >= 0 {
		p.conns[e.Conn] = true
	}
}

// The kinds of packets in a fold.
var foldKinds = []string{"SYN", "FIN", "RST", "segment", "ACK", "datagram", "packet"}

func kindOf(e *wire.Event) string {
	switch e.IP.Proto {
	case ip.ProtoTCP:
		return segmentKind(e)
	case ip.ProtoUDP:
		return "datagram"
	}
	return "packet"
}

func segmentKind(e *wire.Event) string {
	f := e.IP.TCP.Flags
	switch {
	case f&ip.RST != 0:
		return "RST"
	case f&ip.SYN != 0:
		return "SYN"
	case f&ip.FIN != 0:
		return "FIN"
	case e.IP.Size == 0:
		return "ACK"
	}
	return "segment"
}

// words says the direction with more bytes first.
func (p *pile) words() (parts []string) {
	order := []lab.Direction{lab.Up, lab.Down}
	if p.bytes[lab.Down] > p.bytes[lab.Up] {
		order = []lab.Direction{lab.Down, lab.Up}
	}
	for _, d := range order {
		var kinds []string
		for _, k := range foldKinds {
			if n := p.packets[d][k]; n > 0 {
				kinds = append(kinds, plural(n, k, k+"s"))
			}
		}
		if len(kinds) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s, %s", strings.Join(kinds, ", "), d, size(p.bytes[d])))
		}
	}
	for _, m := range []struct {
		kind      wire.MessageKind
		one, many string
	}{
		{wire.ClientHello, "ClientHello", "ClientHellos"}, {wire.ServerHello, "ServerHello", "ServerHellos"},
		{wire.Finished, "Finished", "Finished"}, {wire.NewSessionTicket, "session ticket", "session tickets"},
		{wire.RequestStart, "request begins", "requests begin"}, {wire.RequestEnd, "request ends", "requests end"},
		{wire.ResponseStart, "response begins", "responses begin"}, {wire.ResponseEnd, "response ends", "responses end"},
	} {
		if n := p.messages[m.kind]; n > 0 {
			parts = append(parts, plural(n, m.one, m.many))
		}
	}
	return append(parts, p.trouble()...)
}

func (p *pile) trouble() (parts []string) {
	if p.again > 0 {
		parts = append(parts, size(p.again)+" sent before")
	}
	if d := drops(p.drops); d != "" {
		parts = append(parts, d)
	}
	if p.problems > 0 {
		parts = append(parts, fmt.Sprintf("%d not decodable", p.problems))
	}
	return parts
}

// whose names the connections of a fold, of so many: "c1, c3–c5", "all 6 connections".
func (p *pile) whose(all int) string {
	if len(p.conns) == all {
		return fmt.Sprintf("all %d connections", all)
	}
	list := slices.Sorted(maps.Keys(p.conns))
	var names []string
	for i := 0; i < len(list); {
		n := 1
		for i+n < len(list) && list[i+n] == list[i]+n {
			n++
		}
		switch n {
		case 1:
			names = append(names, label(list[i]))
		case 2:
			names = append(names, label(list[i]), label(list[i+1]))
		default:
			names = append(names, label(list[i])+"–"+label(list[i+n-1]))
		}
		i += n
	}
	return several(names)
}

// drops writes counts by reason: "3 dropped (loss)", or "5 dropped (3 loss, 2
// queue)". Empty: none.
func drops(by map[string]int) string {
	var reasons []string
	sum := 0
	for r, n := range by {
		reasons = append(reasons, r)
		sum += n
	}
	slices.Sort(reasons)
	switch len(reasons) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s dropped (%s)", exact(int64(sum)), clean(reasons[0]))
	}
	for i, r := range reasons {
		reasons[i] = fmt.Sprintf("%d %s", by[r], clean(r))
	}
	return fmt.Sprintf("%s dropped (%s)", exact(int64(sum)), strings.Join(reasons, ", "))
}
