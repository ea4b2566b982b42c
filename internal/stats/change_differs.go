package stats

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Machine is where a folder was measured. Fields that are not known are empty.
type Machine struct {
	Revision string // of samewire's source
	System   string // operating system and processor architecture
	CPU      string
	Cores    int
	// Settings are what else results in real time can depend on, by name.
	Settings map[string]string
}

// other says in what two machines differ so that times in real time are not to be
// compared; empty where they do not, or it is not known.
func (m Machine) other(n Machine) string {
	var words []string
	add := func(what, a, b string) {
		if a != "" && b != "" && a != "0" && b != "0" && a != b {
			words = append(words, fmt.Sprintf("%s %s → %s", what, a, b))
		}
	}
	add("system", m.System, n.System)
	add("processor", m.CPU, n.CPU)
	add("cores", fmt.Sprint(m.Cores), fmt.Sprint(n.Cores))
	return strings.Join(words, ", ")
}

// settings are those that differ.
func (m Machine) settings(n Machine) (words []string) {
	for _, k := range slices.Sorted(maps.Keys(m.Settings)) {
		if v, ok := n.Settings[k]; ok && v != m.Settings[k] {
			words = append(words, fmt.Sprintf("%s %q → %q", k, m.Settings[k], v))
		}
	}
	return words
}

// incomparable says why the times of a cell are not to be compared; empty where
// they are.
func (p *pairing) incomparable() string {
	for _, c := range []*Cell{p.before, p.then} {
		if timeless(c.Cell) {
			return noRatio(c)
		}
		if c.Has(UntrustedTCP) {
			return "packets overtake each other on this path, its MTU shrinks, or it has an outage, and this site's TCP is not to be trusted there"
		}
	}
	for _, o := range []lab.Outcome{lab.Unsupported, lab.WrongProtocol} {
		if p.before.never(o) && p.then.never(o) {
			return fmt.Sprintf("%s in both folders%s", o, because(p.then, o))
		}
	}
	if a, b := backendOf(p.old.Plan), backendOf(p.fresh.Plan); p.then.Site == lab.Kernel && a != b {
		return fmt.Sprintf("the packets were moved by %s, and now by %s", a, b)
	}
	if d := p.old.Machine.other(p.fresh.Machine); d != "" && p.then.Site != lab.Virtual {
		return "measured on another machine: " + d
	}
	timeouts := p.before.Outcomes[lab.Timeout] + p.then.Outcomes[lab.Timeout] + p.before.Outcomes[lab.Stalled] + p.then.Outcomes[lab.Stalled]
	if p.before.Limit != p.then.Limit && timeouts > 0 {
		return fmt.Sprintf("the time limit changed (%s → %s), and runs hit it", seconds(p.before.Limit), seconds(p.then.Limit))
	}
	return ""
}

// backendOf is what moved the packets on the site kernel; plans that do not say had
// samewire's own link.
func backendOf(p lab.Plan) string {
	if p.Backend == "" {
		return "tun"
	}
	return p.Backend
}

// differences says in what the cell, or what was used in it, is not the same.
func (p *pairing) differences() []string {
	words := []string{}
	add := func(what string, a, b []string) {
		if len(a) > 0 && len(b) > 0 && !slices.Equal(a, b) {
			words = append(words, fmt.Sprintf("%s %s → %s", what, strings.Join(a, " or "), strings.Join(b, " or ")))
		}
	}
	words = append(words, fieldsThatDiffer("path", p.before.Path, p.then.Path)...)
	words = append(words, fieldsThatDiffer("load", p.before.Load, p.then.Load)...)
	add("congestion control", controls(p.before), controls(p.then))
	add("initial window", windows(p.before), windows(p.then))
	a, b := p.old.runs[p.before.Cell], p.fresh.runs[p.then.Cell]
	add("server", programs(a, serverOf), programs(b, serverOf))
	add("client", programs(a, clientOf), programs(b, clientOf))
	if x, y := p.before.Window, p.then.Window; x != nil && y != nil && *x != *y {
		words = append(words, fmt.Sprintf("client's flow-control window %d → %d bytes", *x, *y))
	}
	if p.before.Limit != p.then.Limit {
		words = append(words, fmt.Sprintf("time limit %s → %s", seconds(p.before.Limit), seconds(p.then.Limit)))
	}
	return append(words, p.flags()...)
}

func serverOf(r lab.Record) string { return r.Server.Program }
func clientOf(r lab.Record) string { return r.Client.Program }

// programs are the distinct programs of a side, in order.
func programs(runs []lab.Record, of func(lab.Record) string) (names []string) {
	for _, r := range runs {
		if p := of(r); p != "" && !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	slices.Sort(names)
	return names
}

// flags are those that one side has and the other has not. Those that compare
// protocols are no property of the cell.
func (p *pairing) flags() (words []string) {
	for _, f := range Flags() {
		if a, b := p.before.Has(f), p.then.Has(f); a && !b {
			words = append(words, fmt.Sprintf("flag %s in the old folder only", f))
		} else if b && !a {
			words = append(words, fmt.Sprintf("flag %s in the new folder only", f))
		}
	}
	return words
}

// fieldsThatDiffer compares two values field by field, as records write them.
func fieldsThatDiffer[T lab.Path | lab.Load](what string, a, b T) (words []string) {
	if a == b {
		return nil
	}
	x, y := flat(what, a), flat(what, b)
	all := map[string]string{}
	maps.Copy(all, x)
	maps.Copy(all, y)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if x[k] != y[k] {
			words = append(words, fmt.Sprintf("%s %s → %s", strings.TrimSuffix(k, "_ns"), orNone(x[k]), orNone(y[k])))
		}
	}
	return words
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// flat lists what a value's JSON has, by the way to it.
func flat[T lab.Path | lab.Load](what string, v T) map[string]string {
	out := map[string]string{}
	b, err := json.Marshal(v)
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(b, &fields)
	}
	if err != nil { // never: a cell is always JSON
		out[what] = fmt.Sprint(v)
		return out
	}
	flatten(what, fields, out)
	return out
}

func flatten(at string, fields map[string]json.RawMessage, out map[string]string) {
	for k, v := range fields {
		place := at + " " + k
		var inner map[string]json.RawMessage
		if json.Unmarshal(v, &inner) == nil && inner != nil {
			flatten(place, inner, out)
			continue
		}
		var ns int64
		if strings.HasSuffix(k, "_ns") && json.Unmarshal(v, &ns) == nil {
			out[place] = time.Duration(ns).String()
			continue
		}
		out[place] = strings.Trim(string(v), `"`)
	}
}
