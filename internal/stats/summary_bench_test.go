package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// manyRecords is a study of n records with so many blocks for each comparison of
// three protocols, one in fifty of them failed.
func manyRecords(n, blocks int) []lab.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]lab.Record, 0, n)
	for path := 0; len(records) < n; path++ {
		for _, p := range lab.Protocols() {
			c := cell(p)
			c.Path.Name = fmt.Sprint("path", path)
			for rep := range blocks {
				r := record(c, rep+1, math.Exp(0.2*random.NormFloat64()))
				if random.IntN(50) == 0 {
					r.Outcome = lab.Timeout
				}
				records = append(records, r)
			}
		}
	}
	return records
}

func BenchmarkSummarise(b *testing.B) {
	for _, blocks := range []int{6, 10, 30, 100, 10000} {
		records := manyRecords(100_000, blocks)
		b.Run(fmt.Sprint(blocks, "blocks"), func(b *testing.B) {
			for b.Loop() {
				Summarise(plan, records, nil)
			}
		})
	}
}
