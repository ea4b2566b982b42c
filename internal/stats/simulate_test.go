package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// noise is how the logarithm of a run's duration scatters, about 0; +Inf is a run
// that did not finish.
type noise struct {
	name string
	draw func(*rand.Rand) float64
}

// noises are what measured durations look like: with a few per cent of scatter,
// with now and then a value far off, with two levels (a lost packet that costs a
// timeout, or none), leaning to one side, with failures by chance, and with a time
// limit that cuts the slow ones off.
func noises(scale float64) []noise {
	normal := func(r *rand.Rand) float64 { return scale * r.NormFloat64() }
	return []noise{
		{"lognormal", normal},
		{"heavy", func(r *rand.Rand) float64 { return scale * math.Tan(math.Pi*(r.Float64()-0.5)) }},
		{"bimodal", func(r *rand.Rand) float64 { return normal(r)/10 + scale*float64(2*r.IntN(2)) }},
		{"skewed", func(r *rand.Rand) float64 { return 2 * scale * r.ExpFloat64() }},
		{"censored 20 %", failing(0.2, normal)},
		{"censored 40 %", failing(0.4, normal)},
		{"cut off", func(r *rand.Rand) float64 { return cutOff(normal(r), 0.52*scale) }},
	}
}

func failing(share float64, finished func(*rand.Rand) float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return math.Inf(1)
		}
		return finished(r)
	}
}

func cutOff(v, limit float64) float64 {
	if v > limit {
		return math.Inf(1)
	}
	return v
}

// synthetic is a study whose protocols do not differ.
type synthetic struct {
	paths     int
	protocols []lab.Protocol
	arm       bool // the first protocol is measured twice
	reps      int  // of fixed repetitions
	auto      *lab.Auto
	noise     noise
	shared    float64 // of a block's level, which all of its runs have in common
}

func (s synthetic) cells(path int) (cells []lab.Cell) {
	for _, p := range s.protocols {
		c := cell(p)
		c.Site = lab.Virtual
		c.Path.Name = "path " + strconv.Itoa(path)
		c.Path.Down.Loss.Share = 0.01
		cells = append(cells, c)
	}
	if s.arm {
		again := cells[0]
		again.Arm = lab.ArmAA
		cells = append(cells, again)
	}
	return cells
}

// block carries out one repetition.
func (s synthetic) block(r *rand.Rand, cells []lab.Cell, rep int) (records []lab.Record) {
	level := s.shared * r.NormFloat64()
	for _, c := range cells {
		x := s.noise.draw(r)
		if math.IsInf(x, 1) {
			records = append(records, record(c, rep, 0, func(r *lab.Record) { r.Outcome = lab.Timeout }))
			continue
		}
		records = append(records, record(c, rep, math.Exp(level+x)))
	}
	return records
}

// run carries a study out, by its rule if it has one, and sums it up.
func (s synthetic) run(seed uint64) (out Output, blocks int) {
	r := rand.New(rand.NewPCG(seed, 0x5eed))
	var all []lab.Record
	for path := range s.paths {
		cells := s.cells(path)
		var records []lab.Record
		for rep := 1; rep <= s.last(); rep++ {
			records = append(records, s.block(r, cells, rep)...)
		}
		n := s.last()
		if s.auto != nil {
			n = stopsAt(*s.auto, records)
		}
		blocks += n
		all = append(all, records[:n*len(cells)]...)
	}
	return Summarise(lab.Plan{Seed: seed, Reps: s.last(), Auto: s.auto}, all, nil), blocks
}

func (s synthetic) last() int {
	if s.auto != nil {
		return s.auto.Max
	}
	return s.reps
}

func stopsAt(rule lab.Auto, records []lab.Record) int {
	all, blocks, _ := wholeBlocks(records)
	for n := rule.Min; n <= blocks; n = max(n+1, int(math.Ceil(1.25*float64(n)))) {
		if narrow(all, n, rule.Width) {
			return n
		}
	}
	return rule.Max
}

func claims(out Output) (n int) {
	for _, v := range out.Verdicts {
		if v.Verdict == Faster || v.Verdict == Slower {
			n++
		}
	}
	return n
}

func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	two, three := []lab.Protocol{lab.H2, lab.H3}, lab.Protocols()
	for _, scale := range []float64{0.02, 0.04, 0.1} {
		for _, ns := range noises(scale) {
			line := fmt.Sprintf("%5.2f %-14s", scale, ns.name)
			for _, s := range []synthetic{
				{paths: 1, protocols: two, auto: &lab.Auto{Width: 0.1, Min: 6, Max: 30}},
				{paths: 1, protocols: two, arm: true, auto: &lab.Auto{Width: 0.1, Min: 6, Max: 30}},
				{paths: 1, protocols: three, arm: true, auto: &lab.Auto{Width: 0.1, Min: 7, Max: 30}},
			} {
				s.noise = ns
				s.shared = 0.1
				bad, blocks := 0, 0
				for seed := range uint64(n) {
					out, b := s.run(seed)
					if claims(out) > 0 {
						bad++
					}
					blocks += b
				}
				line += fmt.Sprintf(" | %5.2f%% n=%4.1f", 100*float64(bad)/float64(n), float64(blocks)/float64(n))
			}
			fmt.Println(line)
		}
	}
	_ = slices.Sort[[]int]
}
