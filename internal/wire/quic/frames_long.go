package quic

import "fmt"

func (f *frameReader) padding(to *Frame) {
	n := 0
	for n < len(f.r.rest) && f.r.rest[n] == 0 {
		n++
	}
	f.r.rest = f.r.rest[n:]
	to.Kind, to.Length = Padding, n+1
}

// data takes the n bytes of data of a frame, whose offset is already read.
func (f *frameReader) data(to *Frame, n uint64) string {
	to.Data = f.r.bytes(n)
	to.Length = len(to.Data)
	if to.Offset+uint64(to.Length) > maxVarint {
		return fmt.Sprintf("%s ends beyond offset 2^62-1", to.Kind)
	}
	return ""
}

func (f *frameReader) stream(t uint64, to *Frame) string {
	to.Kind, to.Stream, to.Fin = Stream, f.r.varint(), t&0x01 != 0
	if t&0x04 != 0 {
		to.Offset = f.r.varint()
	}
	n := uint64(len(f.r.rest))
	if t&0x02 != 0 {
		n = f.r.varint()
	}
	return f.data(to, n)
}

// ack reads an ACK. Its ranges are as many as there are bytes for: the count
// that the frame names allocates nothing.
func (f *frameReader) ack(ecn bool, to *Frame) string {
	r := &f.r
	to.Kind = Ack
	largest := r.varint()
	to.Delay = r.varint()
	count := r.varint()
	first := r.varint()
	if first > largest {
		return "ACK has a first range that begins below 0"
	}
	from := f.rangeSpace(count)
	f.ranges = append(f.ranges, Range{largest - first, largest})
	smallest := largest - first
	for ; count > 0 && !r.short; count-- {
		gap, length := r.varint(), r.varint()
		if gap+2 > smallest || length > smallest-gap-2 {
			return "ACK has a range that begins below 0"
		}
		end := smallest - gap - 2
		smallest = end - length
		f.ranges = append(f.ranges, Range{smallest, end})
	}
	to.Ranges = f.ranges[from:len(f.ranges):len(f.ranges)]
	if ecn {
		to.ECN = &[3]uint64{r.varint(), r.varint(), r.varint()}
	}
	return ""
}

// rangeSpace makes room for an ACK's ranges, and returns where they begin: they
// must not move when another chunk is begun.
func (f *frameReader) rangeSpace(count uint64) int {
	n := int(min(count, uint64(len(f.r.rest)/2))) + 1
	if cap(f.ranges)-len(f.ranges) < n {
		f.ranges = make([]Range, 0, max(256, n))
	}
	return len(f.ranges)
}

func (f *frameReader) newConnectionID(to *Frame) string {
	r := &f.r
	to.Kind, to.Sequence, to.Retire = NewConnectionID, r.varint(), r.varint()
	n := r.byte()
	id := r.bytes(uint64(n))
	token := r.bytes(16)
	if r.short {
		return ""
	}
	if n < 1 || n > 20 {
		return fmt.Sprintf("NEW_CONNECTION_ID has an ID of %d bytes; 1 to 20 are allowed", n)
	}
	if to.Retire > to.Sequence {
		return "NEW_CONNECTION_ID retires IDs beyond its own"
	}
	to.ID = append([]byte(nil), id...)
	copy(to.Token[:], token)
	return ""
}

func (f *frameReader) connectionClose(app bool, to *Frame) {
	to.Kind, to.App, to.Error = ConnectionClose, app, f.r.varint()
	if !app {
		to.Max = f.r.varint()
	}
	to.Reason = string(f.r.bytes(f.r.varint()))
}
