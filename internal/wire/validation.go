package wire

import (
	"slices"
	"sort"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/quic"
	"github.com/samewire/samewire/internal/wire/tls"
)

// antiAmplification is how many times as much as it received a server may send
// to an address that is not validated (RFC 9000, section 8.1).
const antiAmplification = 3

// validation is the validation of a QUIC client's address: what the server had
// received and sent, in UDP payloads. The address is validated when a Handshake
// packet, or an Initial with a token, reaches the server.
type validation struct {
	r     *Reading
	c     *Connection
	up    []int         // what reached the server, in order
	got   []int64       // bytes with each of up
	valid int           // the index in up of what validated the address; len(up): nothing did
	sent  map[int]int64 // bytes with each datagram that the server sent
}

// validation makes out the validation of a QUIC connection's address.
func (r *Reading) validation(c *Connection) *validation {
	v := &validation{r: r, c: c, valid: -1, sent: map[int]int64{}}
	total, received := int64(0), int64(0)
	for _, i := range c.Events {
		e := &r.Events[i]
		if e.Way == lab.Down {
			total += int64(e.IP.Size)
			v.sent[i] = total
		} else if e.arrived() {
			v.up = append(v.up, i)
		}
	}
	slices.SortStableFunc(v.up, r.arrivals)
	for n, i := range v.up {
		received += int64(r.Events[i].IP.Size)
		v.got = append(v.got, received)
		if v.valid < 0 && slices.ContainsFunc(r.Events[i].QUIC, validates) {
			v.valid = n
		}
	}
	if v.valid < 0 {
		v.valid = len(v.up)
	}
	return v
}

func validates(p quic.Packet) bool {
	return p.Kind == quic.Handshake || p.Kind == quic.Initial && p.Token > 0
}

// releaser returns the client's datagram before which the server may not send
// datagram i: the one that made three times what was received enough, or that
// validated the address. It is not ok where none did.
func (v *validation) releaser(i int) (event int, ok bool) {
	n := sort.Search(v.valid, func(n int) bool { return antiAmplification*v.got[n] >= v.sent[i] })
	if n == len(v.up) {
		return -1, false
	}
	return v.up[n], true
}

// facts fills in what the address's validation showed.
func (v *validation) facts(f *lab.QUICFacts) {
	if v.valid == 0 || len(v.up) == 0 {
		return // validated by the first datagram, or nothing reached the server
	}
	var sent, received int64
	ratio, done := 0.0, false
	v.r.timeline(v.c.Events, func(i int) {
		if e := &v.r.Events[i]; e.Way == lab.Down && !done {
			sent += int64(e.IP.Size)
			if received > 0 {
				ratio = max(ratio, float64(sent)/float64(received))
			}
		}
	}, func(i int) {
		if e := &v.r.Events[i]; e.Way == lab.Up && !done {
			done = v.valid < len(v.up) && i == v.up[v.valid]
			if !done {
				received += int64(e.IP.Size)
			}
		}
	})
	f.SentBefore, f.ReceivedBefore = &sent, &received
	if received > 0 {
		f.Amplification = &ratio
	}
	f.Blocked = v.blocked()
}

// blocked says whether part of the server's handshake had to wait for more than
// the client's ClientHello.
func (v *validation) blocked() bool {
	hello := slices.IndexFunc(v.c.units[lab.Up], func(u unit) bool { return u.kind == ClientHello })
	if hello < 0 {
		return false
	}
	last := hello
	for n, u := range v.c.units[lab.Up] {
		if u.kind == ClientHello {
			last = n
		}
	}
	u := v.c.units[lab.Up][last]
	asked, ok := v.r.delivered(u.on, u.begin, u.end)
	if !ok {
		return false
	}
	for level := tls.LevelInitial; level <= tls.LevelHandshake; level++ {
		for _, p := range v.c.quic.crypto[level][lab.Down].first {
			if e, ok := v.releaser(p.event); ok && v.r.arrivals(e, asked) > 0 && v.r.before(e, p.event) {
				return true
			}
		}
	}
	return false
}
