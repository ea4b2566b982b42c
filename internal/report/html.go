package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// HTMLInput is what a page is made of.
type HTMLInput struct {
	Out     stats.Output
	Plan    lab.Plan
	Records []lab.Record // in any order
	// Study is the text of study.yaml; empty: not known.
	Study string
	// Notes are the caller's sentences, Papers the lines of Papers, and PaperMethod
	// what the method does.
	Notes       []string
	Papers      []string
	PaperMethod string

	Version string // of the samewire that makes the page
	// Command carries the study out again.
	Command string
	// Pictures are packet timelines of single runs.
	Pictures []Picture
}

// Picture is the packet timeline of one run.
type Picture struct {
	Run     string
	Caption string // what it shows, in one sentence
	SVG     []byte // as package story draws it
}

//go:embed assets/page.gohtml assets/page.css assets/charts.js assets/vega.min.js assets/LICENSES.txt
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "assets/page.gohtml"))

// HTML writes a study as one page that needs nothing else: no network, no other
// file, and without scripts still the answer, the tables and every warning.
//
// Properties that an edit must keep:
//   - names, reasons and the study's text come from elsewhere, and are escaped by
//     html/template; a picture is an image, in which nothing runs;
//   - the page's policy allows its own scripts by their digests, and nothing else:
//     no eval, no connection;
//   - what is drawn has a bound whatever the number of records, is chosen without
//     chance, and the page says what was left out.
func HTML(w io.Writer, in HTMLInput) error {
	p, err := newPage(in)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return fmt.Errorf("make HTML: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write HTML: %w", err)
	}
	return nil
}

// page is what the template shows.
type page struct {
	Study, Question, Version, Measured, Title string
	Policy                                    string
	CSS                                       template.CSS
	Vega, Script                              template.JS
	Licences                                  string

	Lead      string
	Answers   []answer
	Verdicts  *verdictTable
	Reasons   []string
	Terms     []string // what the differences are made of
	Times     []timeTable
	Legend    string // what the columns are
	Flags     []flagNote
	Groups    []chartGroup
	Pictures  []pictureNote
	Notes     []notesShown
	Warnings  int
	Repeat    repeat
	Protocols []lab.Protocol
}

// repeat is how to carry a study out again.
type repeat struct {
	Seed                     uint64
	Runs                     int
	Reps, Command, StudyText string
}

// pictureNote is a packet timeline as an image.
type pictureNote struct {
	Run, Caption string
	Source       template.URL
}

func newPage(in HTMLInput) (*page, error) {
	css, err1 := assets.ReadFile("assets/page.css")
	vega, err2 := assets.ReadFile("assets/vega.min.js")
	script, err3 := assets.ReadFile("assets/charts.js")
	licences, err4 := assets.ReadFile("assets/LICENSES.txt")
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return nil, fmt.Errorf("make HTML: %w", err)
		}
	}
	out := in.Out
	sections := sections(out.Cells)
	p := &page{
		Study: clean(out.Study), Question: sentence(in.Plan.Question), Version: clean(in.Version), Measured: clean(out.Samewire),
		Title: clean(title(out)), Policy: policy(vega, script),
		CSS: template.CSS(css), Vega: template.JS(vega), Script: template.JS(script), Licences: string(licences),
		Verdicts: newVerdictTable(out.Verdicts),
		Reasons:  shownNotes(reasons(out.Verdicts)), Terms: shownNotes(explanations(out.Verdicts, mostNotes)),
		Legend: legend(columnsOf(out.Cells)), Flags: flagNotes(out.Cells), Protocols: protocolsOf(out.Cells),
		Notes: shownParts(notes(out, Options{Notes: in.Notes, Papers: in.Papers, PaperMethod: in.PaperMethod})), Warnings: len(out.Warnings),
		Repeat: repeat{Seed: out.Seed, Runs: len(in.Plan.Runs), Reps: repetitions(in.Plan), Command: shown(in.Command), StudyText: shown(in.Study)},
	}
	p.Lead, p.Answers = answers(out.Verdicts)
	p.Times = timeTables(sections, out.Cells)
	p.Groups = newDrawer(in, sections).groups()
	for _, s := range in.Pictures {
		p.Pictures = append(p.Pictures, pictureNote{clean(s.Run), sentence(s.Caption), image(s.SVG)})
	}
	return p, nil
}

// policy allows the page's own scripts and nothing else. Charts set styles of
// elements, and timelines are images inside the page.
func policy(scripts ...[]byte) string {
	words := []string{"default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src"}
	for _, s := range scripts {
		sum := sha256.Sum256(s)
		words = append(words, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(words, " ")
}

// image wraps a picture so that nothing in it runs or is loaded.
func image(svg []byte) template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg))
}

// repetitions says how often each cell was to be carried out.
func repetitions(p lab.Plan) string {
	if p.Auto == nil {
		return plural(p.Reps, "repetition", "repetitions") + " of each cell"
	}
	s := fmt.Sprintf("%d to %d repetitions of each cell, until intervals are narrower than %g %%", p.Auto.Min, p.Auto.Max, 100*p.Auto.Width)
	if p.Auto.Budget > 0 {
		s += ", within " + lab.FormatDuration(p.Auto.Budget) + " a site"
	}
	return s
}

// countedRecords are the records that are observations, by cell, in the order of
// their repetitions.
func countedRecords(records []lab.Record) map[lab.Cell][]*lab.Record {
	counts := stats.Counts(records)
	by := map[lab.Cell][]*lab.Record{}
	for i := range records {
		r := &records[i]
		if counts[stats.Attempt{Run: r.Run.ID, Attempt: r.Attempt}] {
			by[r.Run.Cell] = append(by[r.Run.Cell], r)
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(a, b *lab.Record) int { return a.Run.Rep - b.Run.Rep })
	}
	return by
}
