package gauge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// Streams measures TCP's goodput over the path, each way.
func Streams(ctx context.Context, l Lab, j Job, say func(string)) ([]Check, error) {
	var checks []Check
	for _, d := range directions() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if say != nil {
			say("TCP " + d.String())
		}
		b, err := transfer(l, d, j.span()+10*j.Path.RTT(), 5*time.Second+4*j.Path.RTT())
		if err != nil {
			checks = append(checks, unchecked(Goodput, d.String(), "bit/s", math.NaN(), math.NaN(), 0, err.Error()))
			continue
		}
		checks = append(checks, judgeGoodput(d, j.Path, b))
	}
	return checks, nil
}

// rounds is how often the unlimited path and the bare pair take turns.
const rounds = 3

// Against measures the capacity of an unlimited path against a bare veth pair's,
// in turns, by TCP's goodput.
func Against(ctx context.Context, path, bare Lab, span time.Duration, say func(string)) ([]Check, error) {
	if say != nil {
		say("capacity")
	}
	var over, plain []float64
	var bytes int64
	for range rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a, err := transfer(path, lab.Up, span/rounds, 5*time.Second)
		if err != nil {
			return nil, fmt.Errorf("fill unlimited path: %w", err)
		}
		b, err := transfer(bare, lab.Up, span/rounds, 5*time.Second)
		if err != nil {
			return nil, fmt.Errorf("fill veth pair: %w", err)
		}
		over, plain, bytes = append(over, a.rate()), append(plain, b.rate()), bytes+a.bytes
	}
	slices.Sort(over)
	slices.Sort(plain)
	a, b := quantile(over, 0.5), quantile(plain, 0.5)
	return []Check{told(Capacity, lab.Up.String(), "1", a/b, int(bytes),
		fmt.Sprintf("unlimited path %s, bare veth pair %s", bits(a), bits(b)))}, nil
}
