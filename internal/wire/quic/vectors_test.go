package quic

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// vectors are the packets of RFC 9001, appendix A, and RFC 9369, appendix A.
func vectors(t testing.TB) map[string][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors.txt")
	if err != nil {
		t.Fatal(err)
	}
	packets := map[string][]byte{}
	for line := range strings.Lines(string(data)) {
		name, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if packets[name], err = hex.DecodeString(digits); err != nil {
			t.Fatal(name, err)
		}
	}
	return packets
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestVectorsOfInitialAndRetry(t *testing.T) {
	v := vectors(t)
	for _, version := range []string{"1", "2"} {
		c := NewConn(nil)
		p := c.Read(lab.Up, v["client-initial-"+version])
		want := "Initial 2: CRYPTO 0+241, PADDING 917"
		if got := summary(p); got != want {
			t.Errorf("version %s: client: %s, want %s", version, got, want)
		}
		if c.Hello().ServerName != "example.com" || c.Params(lab.Up) == nil || c.Params(lab.Up).InitialMaxData == 0 {
			t.Errorf("version %s: %+v %+v", version, c.Hello(), c.Params(lab.Up))
		}
		p = c.Read(lab.Down, v["server-initial-"+version])
		want = "Initial 1: ACK 0-0, CRYPTO 0+90"
		if got := summary(p); got != want {
			t.Errorf("version %s: server: %s, want %s", version, got, want)
		}
		if c.IDLength(lab.Up) != 0 || c.IDLength(lab.Down) != 8 || versionName(c.Version()) != version {
			t.Errorf("version %s: IDs of %d and %d bytes, version %s", version, c.IDLength(lab.Up), c.IDLength(lab.Down), versionName(c.Version()))
		}

		c = NewConn(nil)
		c.Read(lab.Up, v["client-initial-"+version])
		retry := v["retry-"+version]
		damaged := append([]byte(nil), retry...)
		damaged[15] ^= 1
		if p := c.Read(lab.Down, damaged); p[0].Problem == "" || c.retried {
			t.Errorf("version %s: a damaged Retry was accepted", version)
		}
		if p := c.Read(lab.Down, retry); p[0].Problem != "" || p[0].Token != 5 || !c.retried {
			t.Errorf("version %s: %+v", version, p[0])
		}
	}
}

func TestVectorsOfChaCha20(t *testing.T) {
	v := vectors(t)
	secret := unhex(t, "9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b")
	for name, version := range map[string]uint32{"chacha-1": Version1, "chacha-2": Version2} {
		c := NewConn(nil)
		c.chosen = version
		c.oneRTT[lab.Up] = newPhases(chacha, version, secret)
		c.named(lab.Down, nil)
		c.spaces[lab.Up][2].opened(654360560)
		if got, want := summary(c.Read(lab.Up, v[name])), "1-RTT 654360564: PING"; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for version, want := range map[uint32]string{
		Version1: "1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9",
		Version2: "c69374c49e3d2a9466fa689e49d476db5d0dfbc87d32ceeaa6343fd0ae4c7d88",
	} {
		if got := hex.EncodeToString(nextSecret(chacha, version, secret)); got != want {
			t.Errorf("version %s: the secret after a key update is %s, want %s", versionName(version), got, want)
		}
	}
}

// summary says what packets hold, or why they could not be read.
func summary(packets []Packet) string {
	var list []string
	for _, p := range packets {
		s := fmt.Sprintf("%s %d", p.Kind, p.Number)
		if !p.Opened {
			s = string(p.Kind)
		}
		if frames := frameTexts(p.Frames); len(frames) > 0 {
			s += ": " + strings.Join(frames, ", ")
		}
		if p.Problem != "" {
			s += " (" + p.Problem + ")"
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

func frameTexts(frames []Frame) []string {
	var list []string
	for i := range frames {
		list = append(list, frameText(&frames[i]))
	}
	return list
}

func frameText(f *Frame) string {
	s := string(f.Kind)
	switch f.Kind {
	case Padding, Datagram:
		s += fmt.Sprintf(" %d", f.Length)
	case Ack:
		for _, r := range f.Ranges {
			s += fmt.Sprintf(" %d-%d", r.Smallest, r.Largest)
		}
		if f.ECN != nil {
			s += fmt.Sprintf(" ecn %v", *f.ECN)
		}
	case Crypto:
		s += fmt.Sprintf(" %d+%d", f.Offset, f.Length)
	case Stream:
		s += fmt.Sprintf(" %d %d+%d %v", f.Stream, f.Offset, f.Length, f.Fin)
	case MaxData, DataBlocked:
		s += fmt.Sprintf(" %d", f.Max)
	case MaxStreamData, StreamDataBlocked:
		s += fmt.Sprintf(" %d %d", f.Stream, f.Max)
	case MaxStreams, StreamsBlocked:
		s += fmt.Sprintf(" %v %d", f.Uni, f.Max)
	case ResetStream, ResetStreamAt:
		s += fmt.Sprintf(" %d %d %d %d", f.Stream, f.Error, f.Max, f.Offset)
	case StopSending:
		s += fmt.Sprintf(" %d %d", f.Stream, f.Error)
	case NewToken, PathChallenge, PathResponse:
		s += fmt.Sprintf(" %x", f.Data)
	case NewConnectionID:
		s += fmt.Sprintf(" %d %d %x %x", f.Sequence, f.Retire, f.ID, f.Token)
	case RetireConnectionID:
		s += fmt.Sprintf(" %d", f.Sequence)
	case ConnectionClose:
		s += fmt.Sprintf(" %v %d %d %q", f.App, f.Error, f.Max, f.Reason)
	}
	return s
}
