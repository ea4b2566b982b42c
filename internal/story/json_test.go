package story

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func jsonOf(t *testing.T, s Story) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, s, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestJSONGolden(t *testing.T) {
	for name, s := range stories() {
		golden(t, name+".json", jsonOf(t, s))
	}
}

// Escaping loses nothing: the text read back is the one that was written, but
// for what was no UTF-8.
func TestJSONKeepsText(t *testing.T) {
	var out Output
	if err := json.Unmarshal([]byte(jsonOf(t, stalled())), &out); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\uFFFD")
	if last := out.Packets[len(out.Packets)-1]; last.QUIC[0].Frames[0].Reason != want {
		t.Errorf("%q, want %q", last.QUIC[0].Frames[0].Reason, want)
	}
	if got := string(escapeJSON([]byte("\"a\U000E0001\""))); got != `"a\udb40\udc01"` {
		t.Errorf("%s", got)
	}
}
