package cli

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/report"
	"github.com/samewire/samewire/internal/story"
)

const (
	formatHTML = "html"
	// htmlFile is the page's name in a study's folder.
	htmlFile = "report.html"
	// Bounds of the packet timelines in a page.
	mostPictures     = 4
	mostPictureBytes = 1 << 20 // of one
	mostTries        = 12      // captures that are read for them
)

// html writes the page of a study. What it says follows from the folder's content
// alone: the same folder gives the same bytes, wherever it lies.
func (l loaded) html(w io.Writer) error {
	in := report.HTMLInput{Out: l.out, Plan: l.plan, Records: l.records, Version: lab.Version}
	if l.method != "" {
		in.Papers, in.PaperMethod = report.Papers(l.out, l.records, l.method), l.method.Describe()
	}
	text, err := l.folder.Study()
	if err != nil {
		in.Notes = append(in.Notes, "The text of the study cannot be read: study.yaml is missing or damaged.")
	}
	in.Study = string(text)
	var notes []string
	in.Command, notes = repeatCommand(l.plan, text)
	in.Notes = append(in.Notes, notes...)
	for _, left := range l.plan.LeftOut {
		in.Notes = append(in.Notes, fmt.Sprintf("The site %s was left out: %s", left.Site, left.Why))
	}
	in.Pictures, notes = l.pictures()
	in.Notes = append(in.Notes, notes...)
	return report.HTML(w, in)
}

// pictures are the packet timelines of a few runs whose packets were kept, one of
// a cell at most: of runs that failed or stalled first, since they are what needs
// an explanation, then of others.
func (l loaded) pictures() (out []report.Picture, notes []string) {
	kept := slices.DeleteFunc(slices.Clone(l.records), func(r lab.Record) bool { return !hasCapture(r) })
	slices.SortStableFunc(kept, func(a, b lab.Record) int {
		if wa, wb := worth(a), worth(b); wa != wb {
			return wb - wa
		}
		return a.Run.Order - b.Run.Order
	})
	seen := map[lab.Cell]bool{}
	tries := 0
	for _, r := range kept {
		if len(out) == mostPictures || tries == mostTries {
			break
		}
		if seen[r.Run.Cell] {
			continue
		}
		seen[r.Run.Cell] = true
		tries++
		p, err := l.picture(r)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The packets of run %s are not drawn: %s.", r.Run.ID, err))
			continue
		}
		out = append(out, p)
	}
	if n := len(kept) - len(out); n > 0 {
		notes = append(notes, fmt.Sprintf("Packets were kept of %d runs, and %d of them are drawn here; samewire show draws the others.", len(kept), len(out)))
	}
	return out, notes
}

// worth is how much there is to be explained in a run.
func worth(r lab.Record) int {
	switch {
	case r.Outcome != lab.OK:
		return 2
	case len(r.Wire.Stalls) > 0:
		return 1
	}
	return 0
}

func (l loaded) picture(r lab.Record) (report.Picture, error) {
	st, err := storyOf(l.folder, r)
	if err != nil || st.Reading == nil {
		// The reason may name the folder, which the page does not depend on.
		return report.Picture{}, fmt.Errorf("its capture is missing or damaged (samewire show %s says more)", r.Run.ID)
	}
	var b bytes.Buffer
	if err := story.SVG(&b, st, story.Options{}); err != nil {
		return report.Picture{}, err
	}
	if b.Len() > mostPictureBytes {
		return report.Picture{}, fmt.Errorf("the drawing has %d kB, more than a page should hold (samewire show --svg makes it)", b.Len()>>10)
	}
	c := r.Run.Cell
	caption := fmt.Sprintf("%s, %s, %s, %s: %s", c.Path.Name, c.Load.Name, c.Protocol, c.Site, r.Outcome)
	if r.Reason != "" {
		caption += ", " + r.Reason
	}
	return report.Picture{Run: r.Run.ID, Caption: caption, SVG: b.Bytes()}, nil
}
