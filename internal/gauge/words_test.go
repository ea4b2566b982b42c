package gauge

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// leaves calls f with the name of each field of a struct, and of those inside,
// and how to set it.
func leaves(v reflect.Value, name string, f func(name string, v reflect.Value)) {
	for i := range v.NumField() {
		field := strings.TrimPrefix(name+"."+v.Type().Field(i).Name, ".")
		if v.Field(i).Kind() == reflect.Struct {
			leaves(v.Field(i), field, f)
			continue
		}
		f(field, v.Field(i))
	}
}

// set makes a field say something.
func set(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("x")
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Int, reflect.Int64:
		v.SetInt(700)
	default:
		t.Fatalf("a field of kind %v: say how to set it", v.Kind())
	}
}

// Every field of a way, set on its own and never measured, has a row: no word can
// be forgotten. A field that is new in lab.Way needs an entry in words().
func TestWordsAreComplete(t *testing.T) {
	var way lab.Way
	leaves(reflect.ValueOf(&way).Elem(), "", func(name string, v reflect.Value) {
		old := reflect.ValueOf(way).Interface().(lab.Way)
		set(t, v)
		named := false
		for _, w := range words() {
			if (w.field == name || strings.HasPrefix(name, w.field+".")) && w.asks(way) {
				named = true
			}
		}
		rows := complete(lab.Path{Down: way}, nil)
		if !named || len(rows) == 0 {
			t.Errorf("%s: asked for, and no word of words() (%v) or no row (%d)", name, named, len(rows))
		}
		for _, c := range rows {
			if c.State != Unchecked || c.Note == "" || c.Direction != "down" {
				t.Errorf("%s: %+v", name, c)
			}
		}
		way = old
	})
	for _, w := range words() {
		if w.shown != nil && w.row == "" || w.why == "" {
			t.Errorf("%s has no row or no reason", w.field)
		}
	}
	if rows := complete(lab.Path{}, nil); len(rows) > 0 {
		t.Errorf("nothing is asked, and there are rows: %+v", rows)
	}
}

// The same for a path: its own fields are the ways, a name, the family, which is
// that of every probe, and the rebinding.
func TestPathWordsAreComplete(t *testing.T) {
	known := map[string]bool{"Name": true, "Family": true, "Up": true, "Down": true, "Rebind": true}
	for i := range reflect.TypeFor[lab.Path]().NumField() {
		if name := reflect.TypeFor[lab.Path]().Field(i).Name; !known[name] {
			t.Errorf("lab.Path has a field %s: which check is about it?", name)
		}
	}
	var p lab.Path
	leaves(reflect.ValueOf(&p.Rebind).Elem(), "", func(name string, v reflect.Value) {
		p.Rebind = lab.Rebind{}
		set(t, v)
		if rows := complete(p, nil); len(rows) == 0 || rows[0].Name != Rebound || rows[0].Direction != Both {
			t.Errorf("Rebind.%s: %+v", name, rows)
		}
	})
}

// A word that a check is about has no row besides.
func TestCompleteKeepsWhatWasMeasured(t *testing.T) {
	p := lab.Path{Up: lab.Way{Loss: lab.Loss{Share: 0.1, ECN: true}, Shrink: lab.Shrink{MTU: 700, At: time.Second}}}
	measured := []Check{
		judge(LossShare, "up", "1", 0.1, 0.1, 0.01, 100, ""), judge(Marked, "up", "1", 0.1, 0.1, 0.01, 100, ""),
		judge(MTU, "up", "B", 700, 700, 0, 1, ""),
	}
	if rows := complete(p, measured); len(rows) != len(measured) {
		t.Errorf("%+v", rows[len(measured):])
	}
	measured[2] = judge(MTU, "up", "B", 1500, 1500, 0, 1, "") // before it shrank
	wantState(t, find(t, complete(p, measured), "mtu-later"), Unchecked)
	measured[1] = told(Marked, "up", "1", 0, 0, "") // told is not asked
	wantState(t, find(t, complete(p, measured[:1]), Marked), Unchecked)
	wide := lab.Path{Up: lab.Way{Delay: 20 * msec, Rate: 1e6, Limit: 100_000}}
	wantState(t, find(t, complete(wide, []Check{judge(Rate, "up", "bit/s", 1e6, 1e6, 1, 9, "")}), "limit"), Unchecked)
	if got := limitShown(lab.Way{Delay: 20 * msec, Limit: 10}); got != Rate {
		t.Errorf("a limit that bounds the rate shows in %q", got)
	}
}

func TestJudgeRebind(t *testing.T) {
	every, at, idle := lab.Rebind{Every: time.Second}, lab.Rebind{At: time.Second}, lab.Rebind{Idle: time.Second}
	address := lab.Rebind{Every: time.Second, Address: true}
	for _, c := range []struct {
		name string
		r    lab.Rebind
		saw  sightings
		want State
	}{
		{"none", lab.Rebind{}, sightings{datagrams: 9}, Holds},
		{"not asked", lab.Rebind{}, sightings{datagrams: 9, ports: 1}, Fails},
		{"of TCP only", lab.Rebind{Every: time.Second, Transport: lab.TCP}, sightings{datagrams: 9, addresses: 1}, Fails},
		{"nothing came", lab.Rebind{}, sightings{}, Unchecked},
		{"every", every, sightings{datagrams: 9, ports: 3, span: 3 * time.Second}, Holds},
		{"never", every, sightings{datagrams: 9, span: 3 * time.Second}, Fails},
		{"twice as often", every, sightings{datagrams: 9, ports: 6, span: 3 * time.Second}, Fails},
		{"the address instead", every, sightings{datagrams: 9, addresses: 3, span: 3 * time.Second}, Fails},
		{"the address", address, sightings{datagrams: 9, addresses: 3, span: 3 * time.Second}, Holds},
		{"the port instead", address, sightings{datagrams: 9, ports: 3, span: 3 * time.Second}, Fails},
		{"at", at, sightings{datagrams: 9, ports: 1}, Holds},
		{"not at", at, sightings{datagrams: 9}, Fails},
		{"idle", idle, sightings{datagrams: 9, ports: idleRounds - 1}, Holds},
		{"not when idle", idle, sightings{datagrams: 9}, Fails},
	} {
		if got := judgeRebind(c.r, c.saw); got.State != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
}

// The correlation of fates as the link draws them is what the closed form says,
// and another is found out, whichever of the two was asked for.
func TestJudgeNext(t *testing.T) {
	const n = 30_000
	sent := paced(n, msec)
	for _, c := range []struct {
		name  string
		way   func(correlation float64) lab.Way
		judge func(lab.Way, *series) Check
	}{
		{DuplicatedNext, func(r float64) lab.Way { return lab.Way{Duplicate: lab.Chance{Share: 0.1, Correlation: r}} },
			func(w lab.Way, s *series) Check { return judgeCopiesNext(lab.Up, w, s)[0] }},
		{UndelayedNext, func(r float64) lab.Way {
			return lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.1, Correlation: r}}
		}, func(w lab.Way, s *series) Check { return judgeUndelayedNext(lab.Up, w, 92, s) }},
		{"gap", func(r float64) lab.Way {
			w := lab.Way{Delay: 20 * msec, Reorder: lab.Reorder{Share: 0.1}}
			if r > 0 {
				w.Reorder = lab.Reorder{Share: 0.2, Gap: 6} // one in ten as well
			}
			return w
		}, func(w lab.Way, s *series) Check { return judgeUndelayedNext(lab.Up, w, 92, s) }},
		{JitterNext, func(r float64) lab.Way {
			return lab.Way{Delay: 50 * msec, Jitter: lab.Jitter{Spread: 10 * msec, Correlation: r, Distribution: lab.Pareto}}
		}, func(w lab.Way, s *series) Check { return judgeJitterNext(lab.Up, w, s)[0] }},
	} {
		for _, asked := range []float64{0, 0.6} {
			for _, carried := range []float64{0, 0.6} {
				want := Holds
				if asked != carried {
					want = Fails
				}
				got := c.judge(c.way(asked), overLink(c.way(carried), 92, sent))
				if got.State != want {
					t.Errorf("%s: asked %g, carried %g: %s, asked %v, measured %v ± %v (%s)", c.name, asked, carried,
						got.State, value(got.Asked), value(got.Measured), value(got.Tolerance), got.Note)
				}
			}
		}
	}
	few := judgeCopiesNext(lab.Up, lab.Way{Duplicate: lab.Chance{Share: 0.1}}, lossSeries(make([]bool, 20)))[0]
	wantState(t, few, Unchecked)
}

// Corruption's correlation shows in what does not arrive.
func TestJudgeAlteredNext(t *testing.T) {
	w := lab.Way{Corrupt: lab.Chance{Share: 0.05, Correlation: 0.9}}
	s := overLink(lab.Way{Duplicate: w.Corrupt}, 92, paced(30_000, msec)) // the same chance
	var gone []bool
	for _, f := range s.copied() {
		gone = append(gone, f.yes)
	}
	wantState(t, judgeAlteredNext(lab.Up, w, lossSeries(gone))[0], Holds)
	plain := w
	plain.Corrupt.Correlation = 0
	wantState(t, judgeAlteredNext(lab.Up, plain, lossSeries(gone))[0], Fails)
	hidden := w
	hidden.Loss.Share = 0.1
	wantState(t, judgeAlteredNext(lab.Up, hidden, lossSeries(gone))[0], Unchecked)
}

func TestNextIsToo(t *testing.T) {
	near(t, "none", nextIsToo(0.1, 0), 0.1, 1e-12)
	near(t, "half", nextIsToo(0.5, 0.5), 2.0/3, 1e-9) // 1/4 + asin(r)/2π, twice
	near(t, "nearly all", nextIsToo(0.1, 0.9999), 1, 0.02)
}

func TestJudgeMarks(t *testing.T) {
	ecn, plain := lab.Way{Loss: lab.Loss{Share: 0.05, ECN: true}}, lab.Way{Loss: lab.Loss{Share: 0.05}}
	m := lossOf(ecn, lab.IPv4, 92, 1)
	s := lossSeries(make([]bool, 10_000))
	s.marked = 500
	wantState(t, judgeMarked(lab.Up, ecn, m, s), Holds)
	wantState(t, judgeMarked(lab.Up, plain, m, s), Fails)
	s.marked = 0
	wantState(t, judgeMarked(lab.Up, ecn, m, s), Fails)
	wantState(t, judgeMarked(lab.Up, plain, m, s), Holds)

	codel := lab.Way{Rate: 1e6, AQM: lab.AQM{Kind: lab.CoDel}}
	marking := codel
	marking.AQM.ECN = true
	for _, c := range []struct {
		way             lab.Way
		marked, managed int
		want            State
	}{
		{codel, 0, 9, Holds}, {codel, 9, 0, Fails}, {codel, 0, 0, Unchecked},
		{marking, 9, 0, Holds}, {marking, 0, 9, Fails}, {marking, 0, 0, Unchecked},
	} {
		s := lossSeries(make([]bool, 100))
		s.marked = c.marked
		wantState(t, judgeQueueMarks(lab.Up, c.way, flood{series: s, managed: c.managed}), c.want)
	}
}

// What a policer lets pass at once is its bucket.
func TestJudgePassed(t *testing.T) {
	const size = 1000
	sent := make([]int64, 60)
	for i := range sent {
		sent[i] = int64(time.Second)
	}
	policer := func(burst int64) lab.Way { return lab.Way{Rate: 1e6, Burst: burst, Police: true} }
	throttle := func(burst int64) lab.Way { return lab.Way{Throttle: lab.Throttle{Rate: 1e6, Burst: burst}} }
	for name, way := range map[string]func(int64) lab.Way{"policer": policer, "throttle": throttle} {
		for _, c := range []struct { // a throttle lets pass as a policer does
			asked, carried int64
			want           State
		}{{30_000, 30_000, Holds}, {30_000, 40_000, Fails}, {30_000, 20_000, Fails}, {30_000, 90_000, Fails}, {70_000, 70_000, Unchecked}} {
			got := judgePassed(lab.Up, way(c.asked), flood{series: overLink(policer(c.carried), size, sent), size: size, burst: 60})
			if got.State != c.want {
				t.Errorf("%s of %d, carried %d: %+v measured %v", name, c.asked, c.carried, got, value(got.Measured))
			}
		}
	}
	if w := policer(30_000); math.Abs(float64(bucket(w))-30_000) > 0 {
		t.Errorf("bucket %d", bucket(w))
	}
}
