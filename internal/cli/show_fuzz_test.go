package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"testing"
	"unicode"

	"github.com/samewire/samewire/internal/story"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/pcapng"
)

// FuzzShow: whatever a capture holds, its story is printable text, valid JSON and
// valid XML.
func FuzzShow(f *testing.F) {
	for _, name := range []string{"cold-h1.pcapng", "cold-h3.pcapng"} {
		b, err := os.ReadFile("testdata/show/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := pcapng.Read(bytes.NewReader(file))
		if err != nil || len(c.Packets) > 2000 {
			return
		}
		r := wire.Read(c)
		facts := digest(r)
		st := story.Story{Reading: r, Facts: &facts}
		var text, object, svg bytes.Buffer
		o := story.Options{Packets: story.All}
		if err := errors.Join(story.Text(&text, st, o), story.JSON(&object, st, o), story.SVG(&svg, st, o)); err != nil {
			t.Fatal(err)
		}
		for kind, b := range map[string][]byte{"text": text.Bytes(), "JSON": object.Bytes(), "SVG": svg.Bytes()} {
			for _, r := range string(b) {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("%s has the character %U", kind, r)
				}
			}
		}
		if !json.Valid(object.Bytes()) {
			t.Fatal("the JSON is not valid")
		}
		for d := xml.NewDecoder(&svg); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}
