package lab

// Wire is what the emulated link saw of one run: facts read off its packets.
// What could not be read is null (a pointer that is nil), never guessed.
type Wire struct {
	Up   WireWay `json:"up"`
	Down WireWay `json:"down"`
	// Connections counts TCP connections and QUIC client flows seen.
	Connections int `json:"connections"`
	// RoundTrips to the first response byte, counted by cause: each packet that
	// released the next one, back to the load's first packet. Null where the
	// packets cannot be read so far.
	RoundTrips *float64 `json:"round_trips"`
	// HandshakeRoundTrips is the same to the packet that ended the handshake for
	// the client, on the connection of the first response; null where it was warm.
	HandshakeRoundTrips *float64 `json:"handshake_round_trips"`
	// Causes is the chain of packets behind RoundTrips, the first packet first.
	Causes []Cause `json:"causes"`
	// Silence is how long the wire had been silent when the load ended, in s.
	Silence float64 `json:"silence"`
	// Digest names the sequence of packets (direction, size, time, fate) up to
	// the load's end: equal digests are equal runs, packet for packet.
	Digest string `json:"digest"`
	// GoodputShare is the load's body bytes over all bytes of the wire in their
	// direction: 1 would be no overhead at all. Null without body bytes.
	GoodputShare *float64 `json:"goodput_share"`
	// NotDecodable counts packets kept whole that could not be read: malformed,
	// of no known protocol, or without their secrets.
	NotDecodable int `json:"not_decodable"`
	// NotKept counts packets that were seen, but not kept whole enough to be read
	// (the log has a limit): facts that need their content leave them out.
	NotKept int `json:"not_kept"`
	// Conversations has the connections in the order in which they were opened, at
	// most MaxConversations.
	Conversations []Conversation `json:"conversations"`
	// Stalls are the silences while something was owed.
	Stalls []Stall `json:"stalls"`
}

// MaxConversations is how many conversations a record describes.
const MaxConversations = 32

// WireWay is one direction of the wire. Packets and Bytes count what was
// offered to the link; Drops what it did not deliver, by reason.
type WireWay struct {
	Packets        int            `json:"packets"`
	Bytes          int64          `json:"bytes"`
	Payload        int64          `json:"payload"` // bytes after the TCP and UDP headers
	Drops          map[string]int `json:"drops"`
	TCPRetransmits int            `json:"tcp_retransmits"` // segments whose sequence space was sent before
	TCPPackets     int            `json:"tcp_packets"`     // segments
	UDPPackets     int            `json:"udp_packets"`     // datagrams
	// Retransmitted is payload that was sent before: of TCP by sequence numbers, of
	// QUIC by the STREAM and CRYPTO frames of decrypted packets. Null where QUIC
	// packets could not be decrypted.
	Retransmitted *int64 `json:"retransmitted"`
	// LossRuns says how many packets were dropped one right after the other, of
	// those offered in this direction; by queue management as well. Null where the
	// drops were not seen one by one (the kernel's netem).
	LossRuns []LossRun `json:"loss_runs"`
	// Foreign counts packets of neither host, such as router solicitations:
	// they are not carried, and do not count as the link's packets.
	Foreign int `json:"foreign"`
	// What the link did to packets besides dropping them.
	Duplicated int `json:"duplicated"`
	Corrupted  int `json:"corrupted"`
	Reordered  int `json:"reordered"` // let pass without their delay
	Marked     int `json:"marked"`    // with ECN's congestion experienced
	// Router counts messages of the emulated router (ICMP errors) to the host
	// at this direction's end. They do not count as packets.
	Router int `json:"router"`

	Usage  *Usage  `json:"usage"`  // null where nothing was sent
	Bursts *Bursts `json:"bursts"` // null where nothing with payload was sent
}

// LossRun counts runs of lost packets of one length.
type LossRun struct {
	Length int `json:"length"`
	Count  int `json:"count"`
}

// Usage says how one direction of the link was used, from the load's start to
// its end.
type Usage struct {
	// Busy is the share of the time in which the link was transmitting at its
	// rate; null without a rate.
	Busy *float64 `json:"busy"`
	// Idle is the longest time in s in which nothing was transmitted or waited;
	// null without a rate.
	Idle *float64 `json:"idle"`
	// What packets waited for the rate before their own transmission, in s; null
	// without a rate.
	QueueDelayP50 *float64 `json:"queue_delay_p50"`
	QueueDelayP99 *float64 `json:"queue_delay_p99"`
	QueueDelayMax *float64 `json:"queue_delay_max"`
	QueuePackets  *int     `json:"queue_packets"` // most that waited at one time
	// InFlight is payload bytes sent and not yet acknowledged to the sender, of all
	// connections together; null where acknowledgements cannot be read.
	InFlightPeak *int64  `json:"in_flight_peak"`
	InFlight     []Level `json:"in_flight"` // over time, at most 64 points
	// Delivered is payload bytes delivered to the other host so far, what came
	// again included; at most 64 points. Null where not every packet was kept.
	Delivered []Level `json:"delivered"`
}

// Level is a level from a time on.
type Level struct {
	At    float64 `json:"at"` // s since the load's start
	Bytes int64   `json:"bytes"`
}

// Bursts says how a sender spaced its packets with payload.
type Bursts struct {
	// A burst is at least two packets of one connection in a row, each offered less
	// than Gap after the one before.
	Gap     float64 `json:"gap"`     // s
	Count   int     `json:"count"`   // of bursts
	Largest int     `json:"largest"` // packets
	Median  int     `json:"median"`  // packets
	// Share of the packets with payload that came in bursts.
	Share float64 `json:"share"`
	// Losses by the third of their burst; Alone are those in no burst.
	LostHead   int `json:"lost_head"`
	LostMiddle int `json:"lost_middle"`
	LostTail   int `json:"lost_tail"`
	LostAlone  int `json:"lost_alone"`
	// Paced says what the spacing of full packets within a round trip looks like:
	// true where a timer spaced them in at least two round trips, false where they
	// come in lumps in most; null where there are too few packets to tell, or where
	// all follow acknowledgements, so that the link spaced them.
	Paced *bool `json:"paced"`
	// PacingRate is the median, over the round trips in which a timer spaced full
	// packets, of the rate at which they were sent, in bit/s; null where there were
	// none.
	PacingRate *float64 `json:"pacing_rate"`
}

// Cause is one packet in the chain behind the first response byte.
type Cause struct {
	Packet    int     `json:"packet"` // its number, from 1
	Direction string  `json:"direction"`
	At        float64 `json:"at"`   // s since the run's start
	What      string  `json:"what"` // what it carried that mattered, such as "ClientHello"
	Why       string  `json:"why"`  // why it had to wait for the one before; empty for the first
}

// Conversation is what was read of one connection.
type Conversation struct {
	Transport string  `json:"transport"` // "tcp" or "quic"
	Client    string  `json:"client"`    // address and port
	Server    string  `json:"server"`
	Opened    float64 `json:"opened"` // s since the run's start
	Packets   int     `json:"packets"`

	Handshake *Handshake  `json:"handshake"` // null where nothing of it was seen
	QUIC      *QUICFacts  `json:"quic"`      // null for TCP
	Up        SenderFacts `json:"up"`        // the client as a sender
	Down      SenderFacts `json:"down"`      // the server as a sender
}

// Handshake is what the TLS handshake showed.
type Handshake struct {
	TLS        string   `json:"tls"` // "1.3", "1.2"; empty: not told yet
	ServerName string   `json:"server_name"`
	Offered    []string `json:"offered_alpn"`
	ALPN       string   `json:"alpn"` // negotiated; empty where it cannot be read
	Suite      string   `json:"suite"`
	Group      string   `json:"group"`        // of the key exchange
	ClientSize *int     `json:"client_hello"` // bytes; null where it was not seen
	ServerSize int      `json:"server_flight"`
	// HelloRetry: the server asked for another ClientHello (RFC 8446, 4.1.4).
	HelloRetry bool `json:"hello_retry"`
	Resumed    bool `json:"resumed"`
	Tickets    int  `json:"tickets"` // NewSessionTicket messages seen
	// EarlyData: "none", "rejected", "accepted", or "offered" where the answer was
	// not seen; EarlyBytes are the bytes of application data sent early.
	EarlyData  string   `json:"early_data"`
	EarlyBytes int64    `json:"early_bytes"`
	RoundTrips *float64 `json:"round_trips"` // to the handshake's end for the client, by cause
}

// QUICFacts are what only QUIC has.
type QUICFacts struct {
	Version string `json:"version"` // "1", "2", or in hexadecimal digits
	// ClientID and ServerID are how long the connection IDs are that each side
	// chose for itself at first, in bytes; null where that was not seen.
	ClientID *int `json:"client_id_length"`
	ServerID *int `json:"server_id_length"`
	Retry    bool `json:"retry"`
	// VersionNegotiation: the server refused the client's first version.
	VersionNegotiation bool `json:"version_negotiation"`
	// Address validation (RFC 9000, section 8.1): what the server had sent when
	// the client's address became validated, what it had received, and the largest
	// ratio of the two on the way; null where no address had to be validated.
	SentBefore     *int64   `json:"sent_before_validation"`
	ReceivedBefore *int64   `json:"received_before_validation"`
	Amplification  *float64 `json:"amplification"`
	Blocked        bool     `json:"amplification_blocked"` // the server had to wait for the client
	// SmallestInitial is the smallest UDP payload with an Initial packet of each
	// side; 1200 is the rule for ack-eliciting ones (RFC 9000, section 14.1).
	SmallestInitialUp   *int `json:"smallest_initial_up"`
	SmallestInitialDown *int `json:"smallest_initial_down"`
	Coalesced           int  `json:"coalesced"` // datagrams with more than one QUIC packet
	KeyUpdates          int  `json:"key_updates"`
	Migrations          int  `json:"migrations"` // the client's address changed
	// Undecrypted packets were kept whole and could not be opened.
	Undecrypted int `json:"undecrypted"`
}

// SenderFacts are what the wire shows of one sending half of a connection, up to
// the load's end. What needs numbers that could not be read (QUIC that was not
// decrypted, packets that were not kept) is null; so is, but for Payload and
// Retransmitted, all of a sender of which one sees that it heard the other side,
// where nothing of that side was captured.
type SenderFacts struct {
	Payload       *int64      `json:"payload"` // bytes, the first time each
	Retransmitted *int64      `json:"retransmitted"`
	Recoveries    *Recoveries `json:"recoveries"`
	// InitialWindow is what was sent before the first acknowledgement of it, where
	// that limited the sender: in bytes and packets; null where the data ended, or
	// something else limited it, or the wire does not show it for sure.
	InitialWindow        *int64 `json:"initial_window"`
	InitialWindowPackets *int   `json:"initial_window_packets"`
	// FirstFlight is the bytes sent before the first acknowledgement of any of
	// them, whether that limited the sender or not; null where the connection's
	// opening was not captured.
	FirstFlight *int64 `json:"first_flight"`
	// Backoff is the bytes in flight after a loss, over those before it: the median
	// over the losses that could be measured. null where there were none.
	Backoff *float64 `json:"backoff"`
	// CC is the congestion control that the wire suggests: "reno", "cubic", "bbr",
	// or empty where it does not show; with the reason.
	CC    string `json:"cc"`
	CCWhy string `json:"cc_why"`
}

// Recoveries counts by kind how a sender found out that packets were lost,
// rightly or not. All that is sent again for one reason is one recovery: up to
// when everything is acknowledged that was under way at its start, and a timer
// that fires again without any acknowledgement in between.
type Recoveries struct {
	Fast int `json:"fast_retransmit"` // by acknowledgements of later packets
	RTO  int `json:"rto"`             // TCP's retransmission timeout
	TLP  int `json:"tail_loss_probe"` // TCP's probe (RFC 8985)
	PTO  int `json:"pto"`             // QUIC's probe timeout (RFC 9002)
}

// Stall is a silence of max(300 ms, 3 round trips) or more while something was
// owed, with its autopsy.
type Stall struct {
	At        float64  `json:"at"`        // s since the load's start: its last packet before
	Length    float64  `json:"length"`    // s
	Ended     bool     `json:"ended"`     // packets came again, before the load ended
	Delivered int64    `json:"delivered"` // payload bytes delivered before, both directions, the first time each
	LastSpoke string   `json:"last_spoke"`
	ShouldAct string   `json:"should_act"` // "client" or "server": who owed the next packet
	Owed      []string `json:"owed"`       // what was owed, one sentence each
	Timers    []Timer  `json:"timers"`     // that should have fired meanwhile
	Sentence  string   `json:"sentence"`   // all of it in a plain sentence
}

// Timer is a timer that a standard prescribes.
type Timer struct {
	Side  string  `json:"side"`
	Name  string  `json:"name"` // "rto", "tlp", "pto", "persist"
	Due   float64 `json:"due"`  // s since the load's start
	Fired bool    `json:"fired"`
	Why   string  `json:"why"` // how the time follows, and from which section of which RFC
}
