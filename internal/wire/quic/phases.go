package quic

// phases are the keys of 1-RTT packets of one direction through key updates (RFC
// 9001, section 6).
//
// An edit must keep: a phase is entered only by a packet that authenticates with
// its keys; the keys before stay, for packets that were overtaken.
type phases struct {
	version      uint32
	secret       []byte // of now
	before, now  *keys
	after        *keys
	phase        bool
	first        uint64 // smallest number opened in this phase
	updates      int
	cutSinceOpen bool // packets passed that might have been of a later phase
}

func newPhases(s *suite, version uint32, secret []byte) *phases {
	k := newKeys(s, version, secret)
	if k == nil {
		return nil
	}
	p := &phases{version: version, secret: secret, now: k}
	p.prepare()
	return p
}

func (p *phases) prepare() {
	p.after = p.now.next(p.version, nextSecret(p.now.suite, p.version, p.secret))
}

// enter moves one phase on.
func (p *phases) enter(number uint64) {
	p.secret = nextSecret(p.now.suite, p.version, p.secret)
	p.before, p.now = p.now, p.after
	p.phase, p.first = !p.phase, number
	p.updates++
	p.prepare()
}

// open opens a 1-RTT packet with the keys of its phase.
func (p *phases) open(o *opener, s *space, b []byte, number int, u unmasked) ([]byte, uint64, bool) {
	same := u.first&phaseBit != 0 == p.phase
	if same {
		if plain, full, ok := o.try(p.now, s, b, number, u); ok {
			p.first, p.cutSinceOpen = min(p.first, full), false
			return plain, full, true
		}
		return p.leap(o, s, b, number, u, 2)
	}
	older := p.before != nil && decodeNumber(s.near, u.truncated, u.bytes) < p.first
	if older {
		if plain, full, ok := o.try(p.before, s, b, number, u); ok {
			return plain, full, true
		}
	}
	if plain, full, ok := o.try(p.after, s, b, number, u); ok {
		p.enter(full)
		p.cutSinceOpen = false
		return plain, full, true
	}
	if p.before != nil && !older {
		if plain, full, ok := o.try(p.before, s, b, number, u); ok {
			return plain, full, true
		}
	}
	return p.leap(o, s, b, number, u, 3)
}

// leap tries later phases, from the given number of updates on by steps of two:
// whole phases may have passed in packets that the log cut short.
func (p *phases) leap(o *opener, s *space, b []byte, number int, u unmasked, from int) ([]byte, uint64, bool) {
	if !p.cutSinceOpen {
		return nil, decodeNumber(s.near, u.truncated, u.bytes), false
	}
	ahead := *p
	for updates := 1; updates <= 8; updates++ {
		ahead.enter(0)
		if updates < from || (updates-from)%2 != 0 {
			continue
		}
		if plain, full, ok := o.try(ahead.now, s, b, number, u); ok {
			ahead.first, ahead.cutSinceOpen = full, false
			*p = ahead
			return plain, full, true
		}
	}
	p.cutSinceOpen = false // damaged packets in a row shall not cost this each
	return nil, decodeNumber(s.near, u.truncated, u.bytes), false
}

// Bounds of the search for a packet's number and phase after packets were missed.
const (
	seekWindows = 256
	seekUpdates = 8
	seekPackets = 64 // that may fail in each direction
)

// seek opens a packet after others were missed: by numbers that end with its
// truncated one, farther and farther ahead, and by later phases.
func (p *phases) seek(o *opener, s *space, b []byte, number int, u unmasked) ([]byte, uint64, bool) {
	ahead := *p
	base := decodeNumber(s.near, u.truncated, u.bytes)
	for range seekUpdates {
		for w := range uint64(seekWindows) {
			full := base + w<<(8*u.bytes)
			if u.first&phaseBit != 0 != ahead.phase || full > maxVarint {
				break
			}
			if plain, ok := o.open(ahead.now, b, number, u, full); ok {
				if ahead.updates != p.updates {
					ahead.first = full
				}
				*p = ahead
				return plain, full, true
			}
		}
		ahead.enter(0)
	}
	return nil, base, false
}
