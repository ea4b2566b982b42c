package quic

import "fmt"

// maxFrames is how many frames of one packet are read. A packet of PINGs alone
// may have more; nothing real does.
const maxFrames = 8192

// Frames of all packets of a Demux are read up to so many, and so many more for
// each packet: in memory a frame takes a hundred times the byte that the shortest
// one takes on the wire, and packets full of them must not take it all.
const (
	freeFrames      = 1 << 18
	framesPerPacket = 8
)

// frameReader reads the frames of decrypted packets. It collects them where they
// are reused, and hands them out from chunks, so that a packet costs no
// allocation of its own.
type frameReader struct {
	r               reader
	frames          []Frame // of the packet being read
	chunk           []Frame // handed out up to its length
	ranges          []Range // of ACKs, handed out up to its length
	packets, handed int     // packets read, and frames handed out
}

// read reads the frames of a packet of a kind. With a bad frame it returns those
// before it, and a problem.
func (f *frameReader) read(kind Kind, plain []byte) ([]Frame, string) {
	f.r, f.frames = reader{rest: plain}, f.frames[:0]
	f.packets++
	problem := ""
	if len(plain) == 0 {
		problem = "the packet has no frames"
	}
	for len(f.r.rest) > 0 && problem == "" {
		if len(f.frames) == maxFrames {
			problem = fmt.Sprintf("more than %d frames", maxFrames)
			break
		}
		if f.handed+len(f.frames) >= freeFrames+framesPerPacket*f.packets {
			problem = fmt.Sprintf("more than %d frames a packet, of all packets so far", framesPerPacket)
			break
		}
		f.frames = append(f.frames, Frame{})
		if problem = f.next(kind, &f.frames[len(f.frames)-1]); problem != "" {
			f.frames = f.frames[:len(f.frames)-1]
		}
	}
	return f.handOut(), problem
}

func (f *frameReader) handOut() []Frame {
	n := len(f.frames)
	f.handed += n
	if n == 0 {
		return nil
	}
	if cap(f.chunk)-len(f.chunk) < n {
		f.chunk = make([]Frame, 0, max(256, n))
	}
	from := len(f.chunk)
	f.chunk = append(f.chunk, f.frames...)
	return f.chunk[from : from+n : from+n]
}

// next reads one frame into to.
func (f *frameReader) next(kind Kind, to *Frame) string {
	before := len(f.r.rest)
	t := f.r.varint()
	if f.r.short {
		return "a frame's type ends beyond the packet"
	}
	if before-len(f.r.rest) != varintLen(t) {
		return "a frame's type is not in its shortest form"
	}
	if where := allowedIn(t); where == 0 {
		return fmt.Sprintf("frame type 0x%x is not known", t)
	} else if where&in(kind) == 0 {
		return fmt.Sprintf("frame type 0x%x is not allowed in a packet of kind %s", t, kind)
	}
	problem := f.body(t, to)
	if f.r.short {
		return fmt.Sprintf("frame %s ends beyond the packet", to.Kind)
	}
	return problem
}

func varintLen(v uint64) int {
	switch {
	case v < 1<<6:
		return 1
	case v < 1<<14:
		return 2
	case v < 1<<30:
		return 4
	}
	return 8
}

// Where frames are allowed (RFC 9000, table 3).
const (
	inInitial = 1 << iota
	inHandshake
	inZeroRTT
	inOneRTT

	inAll = inInitial | inHandshake | inZeroRTT | inOneRTT
	inApp = inZeroRTT | inOneRTT
)

func in(kind Kind) byte {
	switch kind {
	case Initial:
		return inInitial
	case Handshake:
		return inHandshake
	case ZeroRTT:
		return inZeroRTT
	}
	return inOneRTT
}

// allowedIn says in which packets a frame type is allowed; 0: it is not known.
func allowedIn(t uint64) byte {
	switch t {
	case 0x00, 0x01, 0x1c:
		return inAll
	case 0x02, 0x03, 0x06:
		return inAll &^ inZeroRTT
	case 0x07, 0x1b, 0x1e:
		return inOneRTT
	case 0x1f, 0x24, 0x30, 0x31, 0xaf:
		return inApp
	}
	if t < 0x1e {
		return inApp
	}
	return 0
}

// body reads what follows a frame's type. A frame that ends too early is told by
// the reader.
func (f *frameReader) body(t uint64, to *Frame) string {
	switch {
	case t == 0x00:
		f.padding(to)
	case t == 0x01:
		to.Kind = Ping
	case t == 0x02 || t == 0x03:
		return f.ack(t == 0x03, to)
	case t == 0x06:
		to.Kind, to.Offset = Crypto, f.r.varint()
		return f.data(to, f.r.varint())
	case t >= 0x08 && t <= 0x0f:
		return f.stream(t, to)
	case t == 0x18:
		return f.newConnectionID(to)
	case t == 0x1c || t == 0x1d:
		f.connectionClose(t == 0x1d, to)
	case t == 0x1e:
		to.Kind = HandshakeDone
	case t == 0x30:
		to.Kind = Datagram
		return f.data(to, uint64(len(f.r.rest)))
	case t == 0x31:
		to.Kind = Datagram
		return f.data(to, f.r.varint())
	default:
		return f.small(t, to)
	}
	return ""
}

// small reads the frames that are a few numbers.
func (f *frameReader) small(t uint64, to *Frame) string {
	r := &f.r
	switch t {
	case 0x04:
		to.Kind, to.Stream, to.Error, to.Max = ResetStream, r.varint(), r.varint(), r.varint()
	case 0x05:
		to.Kind, to.Stream, to.Error = StopSending, r.varint(), r.varint()
	case 0x07:
		to.Kind = NewToken
		if problem := f.data(to, r.varint()); problem != "" {
			return problem
		}
		if to.Length == 0 && !r.short {
			return "NEW_TOKEN has an empty token"
		}
	case 0x10:
		to.Kind, to.Max = MaxData, r.varint()
	case 0x11:
		to.Kind, to.Stream, to.Max = MaxStreamData, r.varint(), r.varint()
	case 0x12, 0x13:
		to.Kind, to.Uni, to.Max = MaxStreams, t == 0x13, r.varint()
		return streamCount(to)
	case 0x14:
		to.Kind, to.Max = DataBlocked, r.varint()
	case 0x15:
		to.Kind, to.Stream, to.Max = StreamDataBlocked, r.varint(), r.varint()
	case 0x16, 0x17:
		to.Kind, to.Uni, to.Max = StreamsBlocked, t == 0x17, r.varint()
		return streamCount(to)
	case 0x19:
		to.Kind, to.Sequence = RetireConnectionID, r.varint()
	case 0x1a:
		to.Kind = PathChallenge
		return f.data(to, 8)
	case 0x1b:
		to.Kind = PathResponse
		return f.data(to, 8)
	default:
		return f.extension(t, to)
	}
	return ""
}

// extension reads frames of drafts: draft-ietf-quic-ack-frequency and
// draft-ietf-quic-reliable-stream-reset.
func (f *frameReader) extension(t uint64, to *Frame) string {
	r := &f.r
	switch t {
	case 0x1f:
		to.Kind = ImmediateAck
	case 0xaf:
		to.Kind, to.Sequence, to.Max, to.Delay = AckFrequency, r.varint(), r.varint(), r.varint()
		r.varint() // the reordering threshold
	case 0x24:
		to.Kind, to.Stream, to.Error = ResetStreamAt, r.varint(), r.varint()
		to.Max, to.Offset = r.varint(), r.varint()
		if to.Offset > to.Max {
			return "RESET_STREAM_AT has a reliable size beyond the final size"
		}
	}
	return ""
}

func streamCount(f *Frame) string {
	if f.Max > 1<<60 {
		return fmt.Sprintf("%s says %d, more than 2^60", f.Kind, f.Max)
	}
	return ""
}
