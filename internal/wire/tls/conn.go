package tls

import (
	"fmt"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/keylog"
)

// Conn reads one connection of TLS over TCP. The two directions may be read in
// any order to each other that their bytes were sent in.
type Conn struct {
	dialog  dialog
	secrets *keylog.Log
	ways    [2]way
	keys12  *[2]keys

	hopeless12 bool // no master secret opens it
}

// way is one direction.
type way struct {
	offset  int64  // of the next record
	partial []byte // the record's bytes so far: less than a whole record
	plain   []byte // what the current Read decrypted
	dead    bool
	hand    assembler
	data    int64 // bytes of application data so far
	changed bool  // a ChangeCipherSpec was seen
	sealed  bool  // TLS 1.2: and a record after it

	// TLS 1.3: the stage of the last record that was opened, and the keys of those
	// stages that were opened so far.
	stage stage
	keys  [stages]*keys
	ended bool // EndOfEarlyData was seen
}

// NewConn begins a connection. secrets may be nil.
func NewConn(secrets *keylog.Log) *Conn { return &Conn{secrets: secrets} }

// Hello is what the handshake said so far.
func (c *Conn) Hello() *Hello { return &c.dialog.hello }

// Lost says that bytes of a direction are missing from here on: nothing more is
// read in it.
func (c *Conn) Lost(d lab.Direction) {
	c.ways[d].dead, c.ways[d].partial = true, nil
}

// Types of records (IANA's registry "TLS ContentType").
const (
	recordChange      = 20
	recordAlert       = 21
	recordHandshake   = 22
	recordApplication = 23
)

const (
	recordHeader = 5
	// maxRecord is what may follow a record's header: 2^14 bytes and the expansion of
	// TLS 1.2 (RFC 5246, section 6.2.3), which is larger than that of TLS 1.3.
	maxRecord = 1<<14 + 2048
)

// record is one record: its header and what follows it.
type record struct {
	kind       byte
	header     []byte
	body       []byte
	begin, end int64
}

// Read takes the next bytes of a direction, in order and without gaps, and
// returns what they completed. It keeps at most one record and one handshake
// message for later.
func (c *Conn) Read(d lab.Direction, data []byte) []Message {
	w := &c.ways[d]
	if w.dead || len(data) == 0 {
		return nil
	}
	if len(w.partial) > 0 {
		data = append(w.partial, data...)
	}
	w.plain = w.plain[:0]
	r := &reading{conn: c, way: w, d: d}
	for !w.dead {
		size, fault := recordSize(data)
		if fault != "" {
			r.broken(w.offset, fault)
			break
		}
		if size == 0 || size > len(data) {
			break
		}
		if len(w.plain) == 0 && cap(w.plain) < len(data) { // room for all that follows
			w.plain = make([]byte, 0, len(data))
		}
		r.record(record{data[0], data[:recordHeader], data[recordHeader:size], w.offset, w.offset + int64(size)})
		w.offset += int64(size)
		data = data[size:]
	}
	w.partial = append(w.partial[:0], data...)
	if w.dead {
		w.partial = nil
	}
	return r.list
}

// recordSize is the size of the record that begins data, with its header; 0: the
// header is not complete. A fault says why it is no record.
func recordSize(data []byte) (size int, fault string) {
	if len(data) > 0 && (data[0] < recordChange || data[0] > recordApplication) {
		return 0, fmt.Sprintf("no TLS record: type %d, want %d to %d", data[0], recordChange, recordApplication)
	}
	if len(data) > 1 && data[1] != 3 {
		return 0, fmt.Sprintf("no TLS record: version 0x%02x.., want 0x03..", data[1])
	}
	if len(data) < recordHeader {
		return 0, ""
	}
	length := int(data[3])<<8 | int(data[4])
	if length > maxRecord {
		return 0, fmt.Sprintf("no TLS record: length %d, at most %d is allowed", length, maxRecord)
	}
	return recordHeader + length, ""
}
