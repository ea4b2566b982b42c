package model

import "math"

// sender is the sending half of one connection without loss. It is carried out
// packet by packet, but only until its rate does not change any more; what is
// left then takes its time at that rate.
//
// Slow start adds a packet for each that is acknowledged (RFC 5681, section 3.1,
// with RFC 3465's counting), which doubles the window every round trip whether
// acknowledgements are delayed or not. HyStart ends it when the queue's delay
// shows, and then the window grows as Reno's or CUBIC's.
//
// Packets are counted in units of a full packet at the connection's start: where
// packets grow later, one is more than a unit.
type sender struct {
	data, acks *way
	packet     packet
	every      int     // packets that are acknowledged together
	window     float64 // units
	ceiling    float64 // most units on their way; 0 is no limit
	rtt        float64 // of the path, s
	pacer      pacer
	control    control

	small       int // small packets that go first
	began, srtt float64
	sent, acked float64
	pending     []acknowledgement
	held        []flown // arrived, and waiting to be acknowledged together
	start       hystart
	overflowed  bool
}

// flown is a packet that has left.
type flown struct{ left, arrived, units float64 }

// acknowledgement is one on its way: when it arrives, of how much and how many
// packets, and the round trip that it shows.
type acknowledgement struct{ at, rtt, units, packets float64 }

// ackDelay is how long a lone packet waits to be acknowledged, in s (RFC 9000,
// section 18.2: max_ack_delay's default).
const ackDelay = 0.025

// enough is how many packets are carried out one by one before what is left may
// be extrapolated.
const enough = 1 << 15

// begin sets the sender to work at a time.
func (s *sender) begin(at float64) { s.began, s.srtt = at, s.rtt }

// step sends the next packet of what is left of some content, at a time that
// next has given. It returns when that arrives, and what it took of what is left.
func (s *sender) step(at, left float64) (arrival, units float64) {
	units = min(left, s.packet.units((at-s.began)/s.rtt))
	if s.small > 0 {
		s.small--
		return s.carry(at, s.packet.smallUnits, smallPacket), 0
	}
	return s.carry(at, units, s.packet.size(units)), units
}

// steady says that the rate does not change any more: the queue has overflowed,
// or the ceiling is reached, or the way has been busy for several round trips.
func (s *sender) steady(at float64) bool {
	switch {
	case s.overflowed:
		return true
	case s.sent < enough:
		return false
	case s.ceiling > 0 && s.window >= s.ceiling:
		return true
	}
	return s.sent >= 8*enough || s.data.perByte > 0 && at-s.data.busy > 4*s.rtt
}

// rest is when the last of what is left arrives, at the rate that has been
// reached, where so many senders share the way.
func (s *sender) rest(at, left, share float64) float64 {
	units := s.packet.units((at - s.began) / s.rtt)
	slot := share * s.data.slot(s.packet.size(units)) / units
	switch {
	case s.overflowed:
		slot /= utilisation(s.control.beta, s.rtt, s.data.queue)
	default:
		slot = max(slot, (s.rtt+slot)/s.limit())
	}
	return max(at, s.data.free) + left*slot + s.data.delay
}

func (s *sender) limit() float64 {
	if s.ceiling > 0 {
		return min(s.ceiling, s.window)
	}
	return s.window
}

// next is when the next packet may leave: there is room in the window, and the
// pacer lets it.
func (s *sender) next(at float64) float64 {
	for {
		s.receive(at)
		if s.sent-s.acked > s.limit()-1+1e-9 {
			at = max(at, s.soonest())
			continue
		}
		ready := s.pacer.ready(at, s.rate())
		if ready <= at {
			return at
		}
		if len(s.pending) > 0 {
			ready = min(ready, s.pending[0].at)
		}
		at = ready
	}
}

// soonest is when the next acknowledgement arrives.
func (s *sender) soonest() float64 {
	if len(s.pending) == 0 {
		s.acknowledge(s.held[len(s.held)-1].arrived + ackDelay)
	}
	return s.pending[0].at
}

func (s *sender) rate() float64 {
	if s.control.avoiding {
		return paceAvoid * s.limit() / s.srtt
	}
	return paceStart * s.limit() / s.srtt
}

func (s *sender) carry(at, units, size float64) (arrival float64) {
	s.pacer.send(at, s.rate(), size/s.packet.size(1))
	s.sent += units
	arrival, waited := s.data.pass(at, size)
	s.overflowed = s.overflowed || waited > s.data.queue
	if len(s.held) > 0 && arrival > s.held[0].arrived+ackDelay {
		s.acknowledge(s.held[0].arrived + ackDelay)
	}
	s.held = append(s.held, flown{at, arrival, units})
	if len(s.held) >= s.every {
		s.acknowledge(arrival)
	}
	return arrival
}

// acknowledge acknowledges what is held, at the given time.
func (s *sender) acknowledge(at float64) {
	back, _ := s.acks.pass(at, s.packet.ack)
	a := acknowledgement{at: back}
	for _, p := range s.held {
		a.units += p.units
		a.packets += max(1, p.units)
		a.rtt = back - at + p.arrived - p.left
	}
	s.pending = append(s.pending, a)
	s.held = s.held[:0]
}

// receive takes the acknowledgements that have arrived by the given time.
func (s *sender) receive(at float64) {
	n := 0
	for n < len(s.pending) && s.pending[n].at <= at {
		s.take(s.pending[n])
		n++
	}
	s.pending = s.pending[n:]
}

func (s *sender) take(a acknowledgement) {
	flying := s.sent - s.acked
	s.acked += a.units
	s.srtt += (a.rtt - s.srtt) / 8 // RFC 6298, section 2
	before := s.start.before
	if s.packet.quic || before == 0 {
		before = s.rtt
	}
	if !s.control.avoiding && s.start.ends(a.rtt, before, s.acked, s.sent, s.window) {
		s.control.avoid(a.at, s.window)
	}
	// A QUIC window that is not used does not grow (RFC 9002, section 7.8; quic-go
	// wants half of it). gVisor's TCP does not look, and Linux's not at one burst.
	if !s.packet.quic || flying > math.Floor(s.window)/2 {
		s.window = s.control.grow(a.at, s.window, a.packets, s.srtt)
	}
}
