package stats

import (
	"math"
	"slices"
)

// TwoSample placeholder until merged.
func TwoSample(a, b []float64, na, nb int, seed uint64) Estimate {
	e := Estimate{N: na + nb, P: 1}
	if na == 0 || nb == 0 {
		return e
	}
	pad := func(x []float64, n int) []float64 {
		out := []float64{}
		for _, v := range x {
			out = append(out, math.Log(v))
		}
		for len(out) < n {
			out = append(out, math.Inf(1))
		}
		return out
	}
	x, y := pad(a, na), pad(b, nb)
	var d []float64
	u := 0.0
	for _, v := range x {
		for _, w := range y {
			z := v - w
			if math.IsNaN(z) {
				z = 0
			}
			d = append(d, z)
			if z > 0 {
				u++
			} else if z == 0 {
				u += .5
			}
		}
	}
	slices.Sort(d)
	m := float64(na * nb)
	sd := math.Sqrt(m * float64(na+nb+1) / 12)
	z := max((math.Abs(u-m/2)-.5)/sd, 0)
	e.P = min(1, 2*normalTail(z))
	e.Ratio = ratio(d[len(d)/2])
	k := int(m/2 - 1.96*sd - .5)
	if k < 0 {
		return e
	}
	s := span{d[len(d)/2], d[k], d[len(d)-1-k], true}
	e.Low, e.High, e.Side = ratio(s.low), ratio(s.high), s.side()
	return e
}
