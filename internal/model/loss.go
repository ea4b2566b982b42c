package model

// lossy is how long the content of one connection is on its way where packets are
// lost by chance: the deterministic sawtooth from which the ceilings are derived
// (one loss for every 1/p packets; Mathis and others, 1997), begun with slow
// start, plus what losses cost that later packets do not show (Padhye and others, 1998).
//
// Properties that an edit must keep: in the long run it is additive or cubic of
// ceilings.go plus the share of late losses, and never faster than the way.
func (t transfer) lossy(data *way) float64 {
	r := rounds{t: t, control: control{cubic: t.cubic, beta: t.beta}, window: float64(t.initial + t.grown), next: 1 / t.loss}
	r.slot = data.slot(t.framing.packet.size(1))
	each := (t.objects + t.conns - 1) / t.conns
	total := t.framing.units(each, t.size) / (1 - t.loss)
	var settled rounds
	for r.sent < total {
		r.round(total)
		if r.losses >= settle && settled.losses == 0 {
			settled = r
		}
		if r.losses >= 5*settle {
			rate := (r.sent - settled.sent) / (r.now - settled.now)
			return r.now + (total-r.sent)/rate + data.delay
		}
	}
	return r.now - t.rtt + data.delay + r.slot
}

// settle is how many losses it takes until the start is forgotten.
const settle = 100

// rounds is a transfer in round trips.
type rounds struct {
	t       transfer
	control control
	slot    float64 // s that a packet takes of the rate

	now, sent, window float64
	next              float64 // what will have been sent at the next loss
	losses            int
}

// round sends one window.
func (r *rounds) round(total float64) {
	units := r.t.framing.packet.units(r.now / r.t.rtt)
	window := r.window
	if most := (r.t.rtt + r.slot) / max(r.slot, 1e-12); window > most {
		window = most
	}
	packets := min(window, (total-r.sent)/units)
	took := max(r.t.rtt+r.slot, packets*r.slot)
	r.now += took
	r.sent += packets * units
	r.window = r.control.grow(r.now, r.window, packets, took)
	if r.sent/units < r.next {
		return
	}
	for r.next <= r.sent/units {
		r.next += 1 / r.t.loss
	}
	r.losses++
	r.now += lateShare(window) * backoff(r.t.loss) * r.t.patience * r.t.rtt
	r.window = r.control.lose(r.now, min(r.window, window+1))
}
