package lab

import (
	"strconv"
	"strings"
)

// maxLossBurst is the longest burst of lost packets.
const maxLossBurst = 1_000_000

// String writes the loss as its word reads it; a Loss that loses nothing is
// empty.
func (l Loss) String() string {
	var words []string
	switch {
	case l.Gilbert != Gilbert{}:
		words = append(words, "gemodel", l.Gilbert.String())
	case l.Share == 0:
		return ""
	default:
		words = append(words, FormatShare(l.Share))
		if l.Burst > 1 {
			words = append(words, "burst", strconv.Itoa(l.Burst))
		}
	}
	if l.Super {
		words = append(words, "super")
	}
	if l.ECN {
		words = append(words, "ecn")
	}
	return strings.Join(words, " ")
}

// String writes P R 1-H 1-K, without what netem's defaults say at the end.
func (g Gilbert) String() string {
	shares := []float64{g.P, g.R, g.Bad, g.Good}
	defaults := []float64{0, 1 - g.P, 1, 0}
	n := len(shares)
	for n > 1 && shares[n-1] == defaults[n-1] {
		n--
	}
	var words []string
	for _, s := range shares[:n] {
		words = append(words, FormatShare(s))
	}
	return strings.Join(words, " ")
}

// readLoss reads [random] SHARE [burst K], or gemodel P [R [1-H [1-K]]], and
// then super and ecn.
func readLoss(v *values) (l Loss) {
	switch {
	case v.word("gemodel"):
		l.Gilbert = readGilbert(v)
	case v.word("state"):
		v.fail("netem's state model is not supported: gemodel P R 1-H 1-K makes losses in bursts, with two states")
	default:
		l = readRandom(v)
	}
	none := l.Share == 0 && l.Gilbert == (Gilbert{})
	for {
		if none && (v.peek() == "super" || v.peek() == "ecn") {
			v.fail("%s has no meaning where nothing is lost: give a loss too", v.peek())
		}
		switch {
		case !l.Super && v.word("super"):
			l.Super = true
		case !l.ECN && v.word("ecn"):
			l.ECN = true
		default:
			return l
		}
	}
}

func readRandom(v *values) (l Loss) {
	if p := v.peek(); p != "" && p != "random" && !beginsNumber(p) {
		v.fail("%q is not known; want a share such as 1%%, random, or gemodel", clip(p))
	}
	v.word("random")
	l.Share = next(v, "a share such as 1%", ParseShare)
	if v.peek() == "gemodel" {
		v.fail("give a share or gemodel, not both")
	}
	if v.number("") {
		v.fail("a correlation of random loss is not supported: in netem it changes the share itself. " +
			"Use burst K (bursts of K packets) or gemodel P R (bursts of 1/R packets on average)")
	}
	v.tried = nil
	if v.word("burst") {
		l.Burst = next(v, "a number of packets", whole(1, maxLossBurst))
	}
	if l.Burst == 1 || l.Share == 0 {
		l.Burst = 0
	}
	return l
}

// readGilbert reads P [R [1-H [1-K]]]; what is left out is as in netem: 1-P,
// 100 %, 0 %.
func readGilbert(v *values) Gilbert {
	g := Gilbert{P: next(v, "gemodel's P, such as 1%,", ParseShare), Bad: 1}
	g.R = 1 - g.P
	for _, p := range []struct {
		what string
		to   *float64
	}{{"R", &g.R}, {"1-H", &g.Bad}, {"1-K", &g.Good}} {
		if !v.number("gemodel's " + p.what) {
			break
		}
		*p.to = next(v, p.what, ParseShare)
	}
	return g
}
