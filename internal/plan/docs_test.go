package plan

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/study.md names every word of a path, and its examples are paths.
func TestStudyPage(t *testing.T) {
	b, err := os.ReadFile("../../docs/study.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	words, examples, ok := strings.Cut(page, "### Conditions from the field")
	examples, _, _ = strings.Cut(examples, "## ")
	if !ok {
		t.Fatal("the page has no conditions from the field")
	}
	for _, w := range pathWords() {
		if !regexp.MustCompile("(?m)^\\|[^|]*`" + w.name + "[`{]").MatchString(words) {
			t.Errorf("no table has the word %s", w.name)
		}
		for _, inside := range w.inside {
			if !regexp.MustCompile("[`\\[| ]" + regexp.QuoteMeta(inside) + "[`\\]\\\\| ,]").MatchString(words) {
				t.Errorf("the page does not say %s, which can stand after %s", inside, w.name)
			}
		}
	}
	n := 0
	for _, m := range regexp.MustCompile("`(rtt [^`]+)`").FindAllStringSubmatch(examples, -1) {
		n++
		if _, err := ParsePath("p", m[1], anyTrace); err != nil {
			t.Error(err)
		}
	}
	if n < 15 {
		t.Errorf("saw only %d examples", n)
	}
}

func anyTrace(string) ([]byte, error) { return []byte(cellTrace), nil }
