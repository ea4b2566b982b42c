package wire

// Limits says how much of a run's packets the log keeps. The zero Limits are
// those of every run. What is beyond a limit is seen and counted all the same.
type Limits struct {
	// TCP is up to which byte of the stream segments are kept whole, in each
	// direction of each connection; of those that begin behind it the headers are
	// kept. Retransmissions of the beginning are kept whole as well. 0 means 64 KiB.
	TCP int64
	// Whole is how many bytes are kept of packets that are not TCP, all together;
	// of those after them Head bytes each, from the IP header on. 0 means 64 MiB,
	// and 80 bytes: the headers, and those of a QUIC packet.
	Whole int64
	Head  int
	// Total is how much memory the log may take, its table included. 0 means 192
	// MiB. Of it Newest is for the newest packets, in the place of those before
	// them, once the rest is used; 0 means 8 MiB. Both are rounded to a few chunks
	// (of 48 and 128 KiB), of which there are at least four for the newest packets
	// and two for the first.
	Total, Newest int64
}

// or returns the limits with the standard ones for those that are zero.
func (l Limits) or() Limits {
	if l.TCP == 0 {
		l.TCP = 64 << 10
	}
	if l.Whole == 0 {
		l.Whole = 64 << 20
	}
	if l.Head == 0 {
		l.Head = 80
	}
	if l.Total == 0 {
		l.Total = 192 << 20
	}
	if l.Newest == 0 {
		l.Newest = 8 << 20
	}
	return l
}
