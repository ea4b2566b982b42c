package story

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"
)

func svgOf(t *testing.T, s Story, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSVGGolden(t *testing.T) {
	for name, s := range stories() {
		if s.Reading != nil {
			golden(t, name+".svg", svgOf(t, s, Options{}))
		}
	}
}

// A diagram is whole XML, names nothing outside itself, and has no raw control
// character.
func TestSVGIsValidAndAlone(t *testing.T) {
	for name, s := range stories() {
		if s.Reading == nil {
			if err := SVG(io.Discard, s, Options{}); err == nil {
				t.Errorf("%s: a diagram without packets", name)
			}
			continue
		}
		for _, p := range []Packets{Folded, All} {
			svg := svgOf(t, s, Options{Packets: p})
			d := xml.NewDecoder(strings.NewReader(svg))
			for {
				_, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			for _, r := range svg {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Errorf("%s has the character %U", name, r)
				}
			}
			if strings.Contains(svg, "href") || strings.Count(svg, "http") > 1+strings.Count(svg, "xmlns=") {
				t.Errorf("%s needs something outside", name)
			}
		}
	}
}

// What is later never stands higher, arrows point down, labels keep apart.
func TestPlaces(t *testing.T) {
	for name, s := range stories() {
		if s.Reading == nil {
			continue
		}
		tl := tell(s, All)
		spots := place(tl, tl.rows)
		var last [2]*spot
		for i, r := range tl.rows {
			p := &spots[i]
			if i > 0 && p.start < spots[i-1].start {
				t.Errorf("%s: row %d starts above the one before", name, i)
			}
			if r.kind != packetRow {
				continue
			}
			if p.end < p.start+leastSlant {
				t.Errorf("%s: the arrow of row %d does not point down", name, i)
			}
			way := tl.r.Events[r.event].Way
			if l := last[way]; l != nil && p.start < l.start+float64(len(l.lines)*lineHeight) {
				t.Errorf("%s: the label of row %d covers the one before", name, i)
			}
			last[way] = p
		}
	}
}
