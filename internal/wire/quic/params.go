package quic

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"
)

// Params are transport parameters (RFC 9000, section 18.2). ReadParams fills in
// the defaults of those that were not sent.
type Params struct {
	OriginalDestination []byte        // original_destination_connection_id; nil: not sent
	InitialSource       []byte        // initial_source_connection_id; nil: not sent
	RetrySource         []byte        // retry_source_connection_id; nil: not sent
	ResetToken          []byte        // stateless_reset_token, 16 bytes; nil: not sent
	MaxIdleTimeout      time.Duration // 0: none
	MaxUDPPayloadSize   uint64        // bytes; default 65527
	InitialMaxData      uint64        // bytes
	// Bytes of a stream: bidirectional ones that the sender of the parameter opens
	// (local) or that its peer opens (remote), and unidirectional ones.
	InitialMaxStreamDataBidiLocal  uint64
	InitialMaxStreamDataBidiRemote uint64
	InitialMaxStreamDataUni        uint64
	InitialMaxStreamsBidi          uint64
	InitialMaxStreamsUni           uint64
	AckDelayExponent               uint64        // default 3
	MaxAckDelay                    time.Duration // default 25 ms
	DisableActiveMigration         bool
	PreferredAddress               *PreferredAddress
	ActiveConnectionIDLimit        uint64 // default 2
	MaxDatagramFrameSize           uint64 // RFC 9221; 0: none may be sent
	GreaseQUICBit                  bool   // RFC 9287
	// version_information (RFC 9368); 0 and nil: not sent.
	ChosenVersion     uint32
	AvailableVersions []uint32
}

// PreferredAddress is where a server wants to be reached after the handshake.
type PreferredAddress struct {
	IPv4, IPv6 netip.AddrPort // the zero value: none
	ID         []byte
	ResetToken [16]byte
}

// Transport parameters by number.
const (
	paramVersionInformation = 0x11
	paramMaxDatagram        = 0x20
	paramGreaseQUICBit      = 0x2ab2
)

// ReadParams reads the contents of TLS's extension quic_transport_parameters.
// With an error come the parameters before the bad one.
func ReadParams(data []byte) (*Params, error) {
	p := &Params{
		MaxUDPPayloadSize: 65527, AckDelayExponent: 3, MaxAckDelay: 25 * time.Millisecond, ActiveConnectionIDLimit: 2,
	}
	seen := map[uint64]bool{}
	r := reader{rest: data}
	for len(r.rest) > 0 {
		id := r.varint()
		value := r.bytes(r.varint())
		if r.short {
			return p, fmt.Errorf("read transport parameter 0x%x: it ends beyond the extension", id)
		}
		if seen[id] {
			return p, fmt.Errorf("read transport parameter 0x%x: it is there twice", id)
		}
		seen[id] = true
		if err := p.read(id, value); err != nil {
			return p, fmt.Errorf("read transport parameter 0x%x: %w", id, err)
		}
	}
	return p, nil
}

// read reads one parameter. Unknown ones are ignored (RFC 9000, section 7.4.2).
func (p *Params) read(id uint64, value []byte) error {
	switch id {
	case 0x00:
		return connectionID(&p.OriginalDestination, value)
	case 0x02:
		if len(value) != 16 {
			return fmt.Errorf("%d bytes; 16 are allowed", len(value))
		}
		p.ResetToken = value
	case 0x0c:
		return empty(&p.DisableActiveMigration, value)
	case 0x0d:
		return p.readPreferred(value)
	case 0x0f:
		return connectionID(&p.InitialSource, value)
	case 0x10:
		return connectionID(&p.RetrySource, value)
	case paramVersionInformation:
		return p.readVersions(value)
	case paramGreaseQUICBit:
		return empty(&p.GreaseQUICBit, value)
	default:
		return p.readNumber(id, value)
	}
	return nil
}

func (p *Params) readNumber(id uint64, value []byte) error {
	milliseconds := func(to *time.Duration) func(uint64) {
		return func(v uint64) {
			*to = time.Duration(min(v, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
		}
	}
	plain := func(to *uint64) func(uint64) { return func(v uint64) { *to = v } }
	numbers := map[uint64]struct {
		smallest, largest uint64
		set               func(uint64)
	}{
		0x01:             {0, maxVarint, milliseconds(&p.MaxIdleTimeout)},
		0x03:             {1200, maxVarint, plain(&p.MaxUDPPayloadSize)},
		0x04:             {0, maxVarint, plain(&p.InitialMaxData)},
		0x05:             {0, maxVarint, plain(&p.InitialMaxStreamDataBidiLocal)},
		0x06:             {0, maxVarint, plain(&p.InitialMaxStreamDataBidiRemote)},
		0x07:             {0, maxVarint, plain(&p.InitialMaxStreamDataUni)},
		0x08:             {0, 1 << 60, plain(&p.InitialMaxStreamsBidi)},
		0x09:             {0, 1 << 60, plain(&p.InitialMaxStreamsUni)},
		0x0a:             {0, 20, plain(&p.AckDelayExponent)},
		0x0b:             {0, 1<<14 - 1, milliseconds(&p.MaxAckDelay)},
		0x0e:             {2, maxVarint, plain(&p.ActiveConnectionIDLimit)},
		paramMaxDatagram: {0, maxVarint, plain(&p.MaxDatagramFrameSize)},
	}
	to, known := numbers[id]
	if !known {
		return nil
	}
	r := reader{rest: value}
	v := r.varint()
	if r.short || len(r.rest) > 0 {
		return errors.New("it is not one number")
	}
	if v < to.smallest || v > to.largest {
		return fmt.Errorf("%d; %d to %d are allowed", v, to.smallest, to.largest)
	}
	to.set(v)
	return nil
}

func connectionID(to *[]byte, value []byte) error {
	if len(value) > 20 {
		return fmt.Errorf("a connection ID of %d bytes; at most 20 are allowed", len(value))
	}
	*to = append([]byte{}, value...) // sent, even where empty
	return nil
}

func empty(to *bool, value []byte) error {
	if len(value) != 0 {
		return fmt.Errorf("%d bytes; it has no value", len(value))
	}
	*to = true
	return nil
}

func (p *Params) readPreferred(value []byte) error {
	r := reader{rest: value}
	v4 := address(r.bytes(6), 4)
	v6 := address(r.bytes(18), 16)
	id := r.bytes(uint64(r.byte()))
	token := r.bytes(16)
	if r.short || len(r.rest) > 0 || len(id) < 1 || len(id) > 20 {
		return errors.New("its length does not fit")
	}
	p.PreferredAddress = &PreferredAddress{IPv4: v4, IPv6: v6, ID: id, ResetToken: [16]byte(token)}
	return nil
}

// address reads an address of n bytes and a port; the zero value where all are 0.
func address(b []byte, n int) netip.AddrPort {
	if b == nil {
		return netip.AddrPort{}
	}
	addr, _ := netip.AddrFromSlice(b[:n])
	port := binary.BigEndian.Uint16(b[n:])
	if addr.IsUnspecified() && port == 0 {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, port)
}

func (p *Params) readVersions(value []byte) error {
	if len(value) < 4 || len(value)%4 != 0 {
		return fmt.Errorf("%d bytes are no list of versions", len(value))
	}
	p.ChosenVersion = binary.BigEndian.Uint32(value)
	p.AvailableVersions = nil
	for rest := value[4:]; len(rest) > 0; rest = rest[4:] {
		p.AvailableVersions = append(p.AvailableVersions, binary.BigEndian.Uint32(rest))
	}
	return nil
}
