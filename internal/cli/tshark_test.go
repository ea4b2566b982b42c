package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/ip"
	"github.com/samewire/samewire/internal/wire/quic"
)

// tshark is the oracle: what it reads in the same file is compared with what
// package wire reads.

// needTshark skips a test where tshark is not installed, and fails it where it is
// promised.
func needTshark(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		if os.Getenv("SAMEWIRE_REQUIRE_TSHARK") == "1" {
			t.Fatalf("tshark is required here: %v", err)
		}
		t.Skip("tshark is not installed: there is no other reader to compare with")
	}
}

// frame is what tshark has of a packet. Lists are in the order of the packet.
type frame struct {
	up         bool
	again      bool     // it calls the segment a retransmission, of whatever kind
	stream     string   // of TCP or UDP: a connection
	numbers    []string // of QUIC packets
	frames     []string // types of QUIC frames
	handshakes []string // types of TLS handshake messages that ended here
	headers    int      // requests or responses of HTTP that began
}

// again are the names that tshark has for segments that were sent before. It goes by
// the order and timing of ACKs: one that was acknowledged already is spurious, one
// after three duplicate ACKs fast, one that comes soon after a later one out of
// order. At the sender, which sends in order, all are retransmissions.
var again = []string{
	"tcp.analysis.retransmission", "tcp.analysis.fast_retransmission",
	"tcp.analysis.spurious_retransmission", "tcp.analysis.out_of_order",
}

// asTsharkReads reads a capture file with tshark, by the secrets in it.
func asTsharkReads(t *testing.T, file string) []frame {
	t.Helper()
	fields := append([]string{
		"frame.interface_name", "tcp.stream", "udp.stream", "quic.packet_number", "quic.frame_type", "tls.handshake.type",
		"http.request.method", "http.response.code", "http2.type", "http3.frame_type",
	}, again...)
	args := []string{"-n", "-r", file, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=,", "-E", "separator=;"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	out, err := exec.Command("tshark", args...).Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	list := func(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == ',' }) }
	var frames []frame
	for line := range strings.Lines(string(out)) {
		v := strings.Split(strings.TrimSuffix(line, "\n"), ";")
		if len(v) != len(fields) {
			t.Fatalf("tshark said %q", line)
		}
		frames = append(frames, frame{
			up: v[0] == "client-to-server", again: strings.Join(v[10:], "") != "", stream: v[1] + "/" + v[2],
			numbers: list(v[3]), frames: list(v[4]), handshakes: list(v[5]),
			headers: len(list(v[6])) + len(list(v[7])) + count(list(v[8]), headersType) + count(list(v[9]), headersType),
		})
	}
	return frames
}

// headersType is that of HTTP/2's and HTTP/3's HEADERS frames (RFC 9113, section
// 6.2; RFC 9114, section 7.2.2).
const headersType = "1"

func count(list []string, what string) (n int) {
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

// frameKinds are QUIC's frame types (RFC 9000, section 19), but for those with a
// range of their own.
var frameKinds = map[int]quic.FrameKind{
	0x01: quic.Ping, 0x02: quic.Ack, 0x03: quic.Ack, 0x04: quic.ResetStream, 0x05: quic.StopSending, 0x06: quic.Crypto,
	0x07: quic.NewToken, 0x10: quic.MaxData, 0x11: quic.MaxStreamData, 0x12: quic.MaxStreams, 0x13: quic.MaxStreams,
	0x14: quic.DataBlocked, 0x15: quic.StreamDataBlocked, 0x16: quic.StreamsBlocked, 0x17: quic.StreamsBlocked,
	0x18: quic.NewConnectionID, 0x19: quic.RetireConnectionID, 0x1a: quic.PathChallenge, 0x1b: quic.PathResponse,
	0x1c: quic.ConnectionClose, 0x1d: quic.ConnectionClose, 0x1e: quic.HandshakeDone,
}

func frameKind(t *testing.T, number string) quic.FrameKind {
	t.Helper()
	n, err := strconv.ParseInt(number, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	if n >= 0x08 && n <= 0x0f {
		return quic.Stream
	}
	return frameKinds[int(n)]
}

// handshakeTypes are TLS's (RFC 8446, section 4; RFC 5246, section 7.4).
var handshakeTypes = map[string]string{
	"ClientHello": "1", "ServerHello": "2", "HelloRetryRequest": "2", "NewSessionTicket": "4", "EndOfEarlyData": "5",
	"EncryptedExtensions": "8", "Certificate": "11", "ServerKeyExchange": "12", "CertificateRequest": "13",
	"ServerHelloDone": "14", "CertificateVerify": "15", "ClientKeyExchange": "16", "Finished": "20",
	"CertificateStatus": "22", "KeyUpdate": "24", "CompressedCertificate": "25",
}

func TestReadAsTsharkReads(t *testing.T) {
	needTshark(t)
	for _, site := range []lab.SiteName{lab.Virtual, lab.Kernel} {
		for name, c := range map[string]struct{ notation, tls string }{
			"clean":   {"rtt 20ms rate 20mbit", "1.3"},
			"lossy":   {"rtt 20ms rate 20mbit loss 3%", "1.3"},
			"TLS 1.2": {"rtt 20ms rate 20mbit loss 3%", "1.2"},
			"IPv6":    {"rtt 20ms rate 20mbit loss 3% family ipv6", "1.3"},
		} {
			for _, p := range lab.Protocols() {
				if p == lab.H3 && c.tls == "1.2" {
					continue // QUIC has TLS 1.3 always
				}
				t.Run(fmt.Sprintf("%s %s %s", site, name, p), func(t *testing.T) {
					stack := lab.DefaultStack
					stack.TLS = c.tls
					run := runOf(lab.Cell{Path: notedPath(t, "oracle", c.notation), Load: presetLoad(t, "ten-small"), Stack: stack, Site: site, Protocol: p}, 1)
					run.Lateness = 0
					_, file := captured(t, carrierOf(t, site, 1), run)
					compare(t, p, name != "clean", wire.Read(mustCapture(t, file)), asTsharkReads(t, file))
				})
			}
		}
	}
}

// TestHeadersThatAreSentAgain compares where tshark reads one response twice: in
// packet 57 HEADERS are sent again, with the beginning of a DATA frame behind them.
func TestHeadersThatAreSentAgain(t *testing.T) {
	needTshark(t)
	const file = "testdata/oracle/headers-again.pcapng"
	ours := wire.Read(mustCapture(t, file))
	compare(t, lab.H3, true, ours, asTsharkReads(t, file))
	streams := map[uint64]int{}
	for _, e := range ours.Events {
		for _, m := range e.Messages {
			if m.Kind == wire.ResponseStart {
				streams[m.Stream]++
			}
		}
	}
	for stream, n := range streams {
		if n != 1 {
			t.Errorf("stream %d has %d responses", stream, n)
		}
	}
	if len(streams) != 10 || ours.Events[56].Again == 0 {
		t.Errorf("responses on %d streams, want 10; packet 57 repeats %d bytes", len(streams), ours.Events[56].Again)
	}
}

// compare compares two readings of one file.
func compare(t *testing.T, p lab.Protocol, lossy bool, ours *wire.Reading, theirs []frame) {
	t.Helper()
	if len(ours.Events) != len(theirs) || len(theirs) < 20 {
		t.Fatalf("%d packets, of which tshark reads %d", len(ours.Events), len(theirs))
	}
	read, told := map[string][]string{}, map[string][]string{}
	opened, repeated := 0, 0
	began, begun, again := [2]int{}, [2]int{}, [2]int{}
	for i, e := range ours.Events {
		f := theirs[i]
		if f.up != (e.Way == lab.Up) {
			t.Fatalf("packet %d: direction %v", e.N, e.Way)
		}
		if e.IP.Proto == ip.ProtoICMP || e.IP.Proto == ip.ProtoICMPv6 {
			continue // of a socket that was closed; tshark also reads the datagram that it quotes
		}
		if p == lab.H3 {
			compareQUIC(t, e, f)
		} else if we := e.Again > 0 || isAgain(ours, i); we != f.again {
			t.Errorf("packet %d: sent before: %v, tshark says %v", e.N, we, f.again)
		}
		key := fmt.Sprintf("%s %v", f.stream, e.Way)
		begun[e.Way] += f.headers
		if p == lab.H3 && e.Again > 0 {
			again[e.Way] += f.headers
		}
		for _, m := range e.Messages {
			if m.Kind == wire.RequestStart || m.Kind == wire.ResponseStart {
				began[e.Way]++
			}
			if n := handshakeTypes[messageName(m)]; n != "" {
				read[key] = append(read[key], n)
			}
		}
		told[key] = append(told[key], f.handshakes...)
		opened += len(f.frames)
		if f.again {
			repeated++
		}
	}
	if p == lab.H3 && opened < 50 || p != lab.H3 && lossy && repeated == 0 {
		t.Errorf("tshark reads %d frames of QUIC and %d segments sent before: there is nothing to compare", opened, repeated)
	}
	for d := range began {
		// HEADERS that QUIC sends again tshark may read again.
		if more := begun[d] - began[d]; more < 0 || more > again[d] || began[d] == 0 {
			t.Errorf("%v requests and responses began; tshark says %v, of which %v in packets that repeat something", began, begun, again)
		}
	}
	for key := range told {
		// The order within a direction is not compared: QUIC's levels have none.
		slices.Sort(read[key])
		slices.Sort(told[key])
		if len(told[key]) == 0 || !slices.Equal(read[key], told[key]) {
			t.Errorf("connection %s: handshake messages %v, tshark says %v", key, read[key], told[key])
		}
	}
}

// messageName is the handshake message's name in RFC 8446.
func messageName(m wire.Message) string {
	if m.Kind == wire.OtherMessage {
		return m.Note
	}
	return string(m.Kind)
}

// isAgain says whether a SYN or FIN was sent before: they are no payload.
func isAgain(r *wire.Reading, i int) bool {
	e := r.Events[i]
	flag := e.IP.TCP.Flags & (ip.SYN | ip.FIN)
	if e.Conn < 0 || flag == 0 {
		return false
	}
	for _, before := range r.Events[:i] {
		if before.Conn == e.Conn && before.Way == e.Way && before.IP.TCP.Flags&flag != 0 {
			return true
		}
	}
	return false
}

// compareQUIC compares packet numbers and the frames of a datagram in their order,
// but for PADDING, of which tshark makes one frame or many.
func compareQUIC(t *testing.T, e wire.Event, f frame) {
	t.Helper()
	var numbers []string
	var frames, theirs []quic.FrameKind
	for _, p := range e.QUIC {
		if p.Opened {
			numbers = append(numbers, strconv.FormatUint(p.Number, 10))
		} else if p.Kind != quic.Unknown || p.Problem != "" {
			t.Errorf("packet %d: %s was not opened: %s", e.N, p.Kind, p.Problem)
		}
		for _, x := range p.Frames {
			if x.Kind != quic.Padding {
				frames = append(frames, x.Kind)
			}
		}
	}
	for _, n := range f.frames {
		if kind := frameKind(t, n); n != "0" {
			theirs = append(theirs, kind)
		}
	}
	if !slices.Equal(numbers, f.numbers) || !slices.Equal(frames, theirs) {
		t.Errorf("packet %d (%s): QUIC %v with %v; tshark reads %v with %v", e.N, e.Problem, numbers, frames, f.numbers, theirs)
	}
}

// TestWhatTsharkWritesIsRead holds that a capture that Wireshark's programs have
// saved again comes back as it was, and that as a pcap file, which has neither
// interfaces nor comments, it has the same packets in the same directions.
func TestWhatTsharkWritesIsRead(t *testing.T) {
	t.Parallel()
	needTshark(t)
	c := carrierOf(t, lab.Virtual, 1)
	for _, p := range []lab.Protocol{lab.H2, lab.H3} {
		_, file := captured(t, c, cellRun(t, lab.Virtual, "loss-3", "ten-small", p, 1))
		want := mustCapture(t, file)
		for _, format := range []string{"pcapng", "nsecpcap"} {
			saved := file + "." + format
			if said, err := exec.Command("tshark", "-r", file, "-F", format, "-w", saved).CombinedOutput(); err != nil {
				t.Fatalf("tshark: %v: %s", err, said)
			}
			got := mustCapture(t, saved)
			if format == "pcapng" && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: saved again it has %d packets called %q; want %d called %q", p, len(got.Packets), got.Name, len(want.Packets), want.Name)
			}
			if len(got.Packets) != len(want.Packets) {
				t.Fatalf("%s as %s: %d packets, want %d", p, format, len(got.Packets), len(want.Packets))
			}
			first := want.Packets[0].At
			for i, a := range got.Packets {
				b := want.Packets[i]
				if format != "pcapng" && (a.Way != b.Way || a.At != b.At-first || a.Size != b.Size || !bytes.Equal(a.Data, b.Data)) {
					t.Fatalf("%s as %s: packet %d: %v at %v, want %v at %v", p, format, b.N, a.Way, a.At, b.Way, b.At-first)
				}
			}
		}
	}
}
