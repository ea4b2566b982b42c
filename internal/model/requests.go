package model

// lane is a connection, and what it has still to do.
type lane struct {
	sender *sender
	at     float64 // when its next packet may leave
	left   float64 // units of the objects that were asked for
	done   float64 // when the last of them has arrived
}

// duration is the time from the load's start to the end of its last request.
//
// HTTP/1.1 has one request at a time on a connection, so that n objects on c
// connections take ⌈n/c⌉ rounds; the window grows on from round to round. HTTP/2
// and HTTP/3 send all requests at once (RFC 9113, section 5; RFC 9114, section
// 6.1). All connections begin together and share the rate: of all packets, the
// one that may leave first does.
//
// It is not sound where a queue overflowed in a transfer too short for the long run.
func (t transfer) duration() (end float64, sound bool) {
	data, acks := t.ways()
	if t.loss > 0 {
		return t.end(t.begin(data, acks)+t.lossy(data), acks), true
	}
	lanes := make([]*lane, t.conns)
	waiting := t.objects
	for k := range lanes {
		lanes[k] = &lane{sender: t.sender(data, acks)}
	}
	for k, at := range t.begins(data, acks) {
		lanes[k].sender.begin(at)
		lanes[k].ask(at, t.framing.units(t.take(&waiting, len(lanes)-k), t.size))
	}
	end = t.carry(lanes, waiting, acks)
	return end, !overflowed(lanes) || t.long(data)
}

func overflowed(lanes []*lane) bool {
	for _, l := range lanes {
		if l.sender.overflowed {
			return true
		}
	}
	return false
}

// longRun is how many times what the path holds, its queue included, a single
// connection must move for an overflow at its start to be forgotten.
const longRun = 20

func (t transfer) long(data *way) bool {
	content := float64(t.objects) * float64(t.size)
	return t.conns == 1 && content*data.perByte >= longRun*(t.rtt+data.queue)
}

// take takes from the objects that wait what one of so many connections asks for
// at once.
func (t transfer) take(waiting *int, conns int) int {
	n := min(1, *waiting)
	if !t.serial {
		n = (*waiting + conns - 1) / conns
	}
	*waiting -= n
	return n
}

// carry carries out what the lanes have to do, and what waits.
func (t transfer) carry(lanes []*lane, waiting int, acks *way) (end float64) {
	active := len(lanes)
	for active > 0 {
		l := first(lanes)
		if l.sender.steady(l.at) {
			return t.rest(lanes, waiting, acks)
		}
		arrival, units := l.sender.step(l.at, l.left)
		l.left -= units
		l.done = arrival
		switch {
		case l.left > 1e-9:
			l.at = l.sender.next(l.at)
		case waiting > 0:
			at := t.end(arrival, acks)
			end = max(end, at)
			at, _ = acks.pass(at, request)
			l.ask(at, t.framing.units(t.take(&waiting, 1), t.size))
		default:
			end = max(end, t.end(arrival, acks))
			active--
		}
	}
	return end
}

// rest is when the last lane ends, once rates do not change any more.
func (t transfer) rest(lanes []*lane, waiting int, acks *way) (end float64) {
	left, at, l := float64(waiting)*t.framing.units(1, t.size), 0.0, lanes[0]
	for _, other := range lanes {
		if other.left <= 1e-9 {
			continue
		}
		left += other.left
		at, l = max(at, other.at), other
	}
	share := float64(len(lanes))
	return t.end(l.sender.rest(at, left/share, share), acks)
}

// ask gives the lane content that may be sent from the given time on.
func (l *lane) ask(at, units float64) {
	l.left = units
	l.at = l.sender.next(at)
}

// first is the lane whose next packet leaves first.
func first(lanes []*lane) (found *lane) {
	for _, l := range lanes {
		if l.left > 1e-9 && (found == nil || l.at < found.at) {
			found = l
		}
	}
	return found
}

// begin is when the sender of the first connection's content may begin.
func (t transfer) begin(data, acks *way) float64 { return t.begins(data, acks)[0] }

// begins is when the senders of the content may begin: the server when the request
// has come, the client when the connection is open.
func (t transfer) begins(data, acks *way) []float64 {
	n := t.flights.count()
	up, down := acks, data
	if t.upload {
		up, down, n = data, acks, n-1
	}
	at := make([]float64, t.conns)
	for i := range n {
		w := up
		if i%2 == 1 {
			w = down
		}
		for k := range at {
			at[k], _ = w.pass(at[k], t.flights[i])
		}
	}
	return at
}

// confirmation is the answer to an upload, in bytes of IP.
const confirmation = 300

// end is when the client knows that content which has arrived at the given time
// is complete.
func (t transfer) end(at float64, acks *way) float64 {
	if t.upload {
		at, _ = acks.pass(at, confirmation)
	}
	return at
}

// firstByte is the time from the load's start to the first byte of the first
// response of a download.
func (t transfer) firstByte() float64 {
	data, acks := t.ways()
	at, _ := data.pass(t.begin(data, acks), t.framing.first)
	return at
}

// firstObject is the time to the end of the first response, of a transfer that took
// so long; ok is false where it does not follow: the responses may share what the
// first window lets through.
func (t transfer) firstObject(took float64) (at float64, ok bool) {
	if t.objects == 1 {
		return took, true
	}
	units := t.framing.units(1, t.size)
	if t.upload || t.loss > 0 || units > float64(t.initial) || t.paced && units > paceBurst {
		return 0, false
	}
	data, acks := t.ways()
	at = t.begin(data, acks)
	l := lane{sender: t.sender(data, acks)}
	l.sender.begin(at)
	l.ask(at, units)
	t.objects = 1
	return t.carry([]*lane{&l}, 0, acks), true
}
