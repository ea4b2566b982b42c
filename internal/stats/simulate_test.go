package stats

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/samewire/samewire/internal/lab"
)

// noise is how the logarithm of a run's duration scatters; +Inf is a run that did not
// finish.
type noise struct {
	name string
	draw func(*rand.Rand) float64
}

// The noises are what measured durations look like: a few per cent of scatter, now
// and then a value far off, two levels (a lost packet that costs a timeout, or none),
// leaning to one side, failures by chance, and a limit that cuts the slow ones off.
var (
	lognormal = noise{"lognormal 5 %", func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() }}
	student   = noise{"Student t2", func(r *rand.Rand) float64 { return 0.05 * r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }}
	pareto    = noise{"Pareto 1.5", func(r *rand.Rand) float64 { return r.ExpFloat64() / 1.5 }}
	bimodal   = noise{"bimodal 70/30", twoLevels}
	failing5  = noise{"5 % fail", failing(0.05)}
	failing20 = noise{"20 % fail", failing(0.2)}
	failing40 = noise{"40 % fail", failing(0.4)}
	cutOff    = noise{"slowest 30 % cut off", slowestFail}
)

func noises() []noise {
	return []noise{lognormal, student, pareto, bimodal, failing5, failing20, failing40, cutOff}
}

func twoLevels(r *rand.Rand) float64 {
	x := 0.02 * r.NormFloat64()
	if r.Float64() < 0.3 {
		x += 0.3
	}
	return x
}

func failing(share float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return math.Inf(1)
		}
		return lognormal.draw(r)
	}
}

func slowestFail(r *rand.Rand) float64 {
	if x := lognormal.draw(r); x <= 0.05*0.5244 { // the normal distribution's 70th percentile
		return x
	}
	return math.Inf(1)
}

// randomOf mixes the seed first: the generators of seeds that follow each other are
// much alike, and their studies would not be independent.
func randomOf(seed, what uint64) *rand.Rand {
	mixed := sha256.Sum256(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, seed), what))
	return rand.New(rand.NewChaCha8(mixed))
}

// synthetic is a study. Its protocols do not differ but for the last one of each
// path, which takes slower times as long; 0 is as long.
type synthetic struct {
	paths, protocols int
	arm              bool // the first protocol is measured twice
	reps             int
	auto             *lab.Auto // the rule by which fewer are enough; then reps is not used
	noise            noise
	shared           float64 // scatter of a block's level, which all of its runs have in common
	slower           float64
}

func (s synthetic) cells(path int) (cells []lab.Cell) {
	for _, p := range lab.Protocols()[:s.protocols] {
		c := lossy(virtual(cell(p)))
		c.Path.Name = "path " + strconv.Itoa(path)
		cells = append(cells, c)
	}
	return cells
}

// block carries out one repetition.
func (s synthetic) block(r *rand.Rand, cells []lab.Cell, rep int) (records []lab.Record) {
	level := s.shared * r.NormFloat64()
	run := func(c lab.Cell, times float64) {
		x := s.noise.draw(r)
		if math.IsInf(x, 1) {
			records = append(records, record(c, rep, 1, ended(lab.Timeout)))
			return
		}
		records = append(records, record(c, rep, times*math.Exp(level+x)))
	}
	for i, c := range cells {
		times := 1.0
		if i == len(cells)-1 && s.slower > 0 {
			times = s.slower
		}
		run(c, times)
	}
	if s.arm {
		again := cells[0]
		again.Arm = lab.ArmAA
		run(again, 1)
	}
	return records
}

// path carries out one comparison, by its rule if it has one.
func (s synthetic) path(r *rand.Rand, path int) (records []lab.Record, blocks int) {
	cells, last := s.cells(path), s.reps
	if s.auto != nil {
		last = s.auto.Max
	}
	for rep := 1; rep <= last; rep++ {
		records = append(records, s.block(r, cells, rep)...)
	}
	if s.auto == nil {
		return records, last
	}
	n := stopsAt(*s.auto, records)
	return records[:n*len(records)/last], n
}

// run carries a study out and sums it up, with the mean number of blocks of a path.
func (s synthetic) run(seed uint64) (out Output, blocks float64) {
	r := randomOf(seed, 0x5eed)
	var all []lab.Record
	for path := range s.paths {
		records, n := s.path(r, path)
		all = append(all, records...)
		blocks += float64(n) / float64(s.paths)
	}
	p := lab.Plan{Seed: seed, Reps: s.reps, Auto: s.auto}
	if s.auto != nil {
		p.Reps = s.auto.Max
	}
	return Summarise(p, all, nil), blocks
}

// stopsAt is with how many of the blocks Enough first says yes. It does what Enough
// does, without all the looks of before at each (TestStopsWhereEnoughSays).
func stopsAt(rule lab.Auto, records []lab.Record) int {
	all, blocks, _ := wholeBlocks(records)
	for n := rule.Min; n <= blocks; n = max(n+1, int(math.Ceil(1.25*float64(n)))) {
		if narrow(all, n, rule.Width) {
			return n
		}
	}
	return rule.Max
}

// claims counts the verdicts that say of two protocols that one is faster.
func claims(out Output) (n int) {
	for _, v := range out.Verdicts {
		if v.Verdict == Faster || v.Verdict == Slower {
			n++
		}
	}
	return n
}
