package wire

import (
	"net/netip"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
	"github.com/samewire/samewire/internal/wire/tls"
)

// Reading is a capture whose packets have been read, and put together to
// connections.
type Reading struct {
	Capture *Capture
	// Events has what was read of each packet of the capture, at the same index.
	Events      []Event
	Connections []*Connection

	packets, noted int // read, and messages noted, so far; see note
}

// Event is one packet, read.
type Event struct {
	*Packet
	Conn int // index of its connection; -1: of none
	IP   ip.Packet
	// Problem says what could not be read of a packet that was kept whole; empty:
	// nothing.
	Problem string
	// TCP: the segment's place in its direction's stream. The SYN has offset 0, so
	// that the first byte of data has offset 1.
	Offset int64
	// AckOffset is up to where the other direction's stream is acknowledged; -1
	// without ACK.
	AckOffset int64
	// QUIC has the packets of a datagram, in order.
	QUIC []quic.Packet
	// New and Again are bytes of payload that came for the first time, and that had
	// been sent before: of TCP the segment's payload, of QUIC the data of STREAM and
	// CRYPTO frames.
	New, Again int
	// Messages are those whose last byte this packet carried first, in order.
	Messages []Message
}

// MessageKind names a message of TLS or HTTP.
type MessageKind string

// The kinds that matter for causes. TLS's names are those of RFC 8446 and RFC
// 5246; those of HTTP say where requests and responses begin and end.
const (
	ClientHello       MessageKind = "ClientHello"
	ServerHello       MessageKind = "ServerHello"
	HelloRetryRequest MessageKind = "HelloRetryRequest"
	ServerHelloDone   MessageKind = "ServerHelloDone"   // TLS 1.2
	ClientKeyExchange MessageKind = "ClientKeyExchange" // TLS 1.2
	Certificate       MessageKind = "Certificate"
	Finished          MessageKind = "Finished"
	NewSessionTicket  MessageKind = "NewSessionTicket"
	ApplicationData   MessageKind = "ApplicationData" // a TLS record that could not be opened
	RequestStart      MessageKind = "request"
	RequestEnd        MessageKind = "end of request"
	ResponseStart     MessageKind = "response"
	ResponseEnd       MessageKind = "end of response"
	RetryPacket       MessageKind = "Retry"
	VersionRefused    MessageKind = "VersionNegotiation"
	OtherMessage      MessageKind = "other" // see Note
)

// Message is a message, or one end of a request or response.
type Message struct {
	Kind   MessageKind
	First  int    // index of the event that carried its first byte
	Stream uint64 // of the request; h1 counts from 0 on each connection
	Early  bool   // it was sent as early data (0-RTT)
	Note   string // for a person: what it is, such as "SETTINGS", "EncryptedExtensions"
}

// Connection is one TCP or QUIC connection.
type Connection struct {
	Transport      string // "tcp" or "quic"
	Client, Server netip.AddrPort
	Opened         time.Duration
	Events         []int // indices into Reading.Events, in order
	// Hello is what both sides' TLS messages say; nil where none was seen.
	Hello *tls.Hello
	// Decrypted says that application data could be read.
	Decrypted bool
	// Unread has, for each direction, the event from which on the content was not
	// kept, and 1 more; 0: all was.
	Unread [2]int
	// Sent has, for each direction, the packets that must be acknowledged, in the
	// order in which they were offered.
	Sent [2][]Sent
	// Acks has, for each direction, what the host that sends in it was told: the
	// acknowledgements that reached it, in the order in which they did.
	Acks [2][]Acked
	// Credit has, for each direction, the changes of the flow-control credit that
	// the receiver gave the sender, as they reached the sender.
	Credit [2][]Credit

	// What causes are made of: the messages of each direction, in the order in
	// which they were read, and where their bytes were carried.
	units    [2][]unit
	stream   [2]*spans    // TCP
	quic     *quicConn    // QUIC
	promised [2][]promise // credit whose arrival is still to be found
}

// Sent is a packet that its receiver must acknowledge (TCP: payload, SYN or FIN;
// QUIC: ack-eliciting).
type Sent struct {
	Event      int    // index into Reading.Events
	Number     uint64 // TCP: Offset; QUIC: the packet number
	Space      int    // QUIC: 0 Initial, 1 Handshake, 2 application data
	Bytes      int    // in flight by it: TCP payload; QUIC the packet's size
	New, Again int    // as in Event, of this packet alone
	// Acked is when the sender first learnt that it had arrived; Never if not.
	Acked time.Duration
}

// Acked is an acknowledgement that reached the sender.
type Acked struct {
	Event  int           // the packet that carried it
	At     time.Duration // when it reached the sender
	Bytes  int           // of Sent that it acknowledged for the first time
	Offset int64         // TCP: cumulative
	// Sacked says that packets beyond a gap were acknowledged: something is missing.
	Sacked bool
}

// Credit is what a receiver allows.
type Credit struct {
	Event int
	At    time.Duration
	// Kind is "window" (TCP), "data" (of the connection), "stream" (of one stream),
	// "streams" (how many), "streams at first" (of each stream that has no other:
	// HTTP/2's SETTINGS and QUIC's transport parameters).
	Kind   string
	Stream uint64
	Max    int64 // TCP: the offset up to which may be sent; QUIC: the limit itself
}

// About is what is known of a run besides its packets.
type About struct {
	Run  lab.Run
	RTT  time.Duration // of the path, without queues
	Body int64         // bytes of content delivered, in the load's direction
}
