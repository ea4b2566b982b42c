package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/samewire/samewire/internal/stats"
)

// The elements of JUnit's XML that CI servers read (the schema of Jenkins' xUnit
// plugin). Names and reasons come from elsewhere: encoding/xml escapes them, and
// what XML cannot hold becomes U+FFFD.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
	Out      string      `xml:"system-out,omitempty"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
	Skipped *junitSkipped `xml:"skipped"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// CompareJUnit writes a comparison as JUnit XML: a case for each cell, which fails
// where it crossed a threshold, and is skipped where it is not comparable, has no
// verdict and crossed none, or is in one of the folders only. What it shows beside
// that is the case's output.
func CompareJUnit(w io.Writer, c stats.Changes) error {
	suite := junitSuite{Name: "samewire compare " + c.New.Study, Out: strings.Join(c.Warnings, "\n")}
	for _, cell := range c.Cells {
		suite.add(junitCell(cell))
	}
	for _, only := range []struct {
		cells []stats.CellName
		in    string
	}{{c.OnlyOld, c.Old.Name}, {c.OnlyNew, c.New.Name}} {
		for _, n := range only.cells {
			k := junitNamed(n)
			k.Skipped = &junitSkipped{"only in " + only.in}
			suite.add(k)
		}
	}
	suites := junitSuites{
		Name: "samewire compare", Tests: suite.Tests, Failures: suite.Failures, Skipped: suite.Skipped, Suites: []junitSuite{suite},
	}
	b, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", xml.Header, b); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return nil
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// junitNamed is a case: its class is the site and the load, as CI servers show
// classes by their dots.
func junitNamed(n stats.CellName) junitCase {
	dotless := strings.NewReplacer(".", "_")
	return junitCase{Class: fmt.Sprintf("samewire.%s.%s", n.Site, dotless.Replace(n.Load)), Name: n.String()}
}

func junitCell(c stats.Change) junitCase {
	k := junitNamed(c.CellName)
	var crossed, other []string
	for _, x := range c.Crossings {
		s := fmt.Sprintf("%s: %s", x.Threshold, x.Why)
		if x.State == stats.Crossed {
			crossed = append(crossed, s)
		} else {
			other = append(other, "may have crossed "+s)
		}
	}
	for _, m := range c.Metrics {
		if m.Change != stats.Untested {
			s := fmt.Sprintf("%s: %s → %s, new/old %s: %s", m.Metric, changeValue(m, m.Old, c.OldOK, c.OldRuns), changeValue(m, m.New, c.NewOK, c.NewRuns), changeRatio(m, c.Exact), changeWord(m.Change))
			if m.Why != "" {
				s += " (" + m.Why + ")"
			}
			other = append(other, s)
		}
	}
	for _, d := range c.Differs {
		other = append(other, "not the same in both folders: "+d)
	}
	k.Out = strings.Join(other, "\n")
	switch {
	case len(crossed) > 0:
		k.Failure = &junitFailure{Message: crossed[0], Type: "threshold", Text: strings.Join(crossed, "\n")}
	case c.Change == stats.NotComparable:
		k.Skipped = &junitSkipped{"not comparable: " + c.Why}
	case c.Change == stats.NoVerdict:
		k.Skipped = &junitSkipped{"no verdict: " + noVerdict(c)}
	}
	return k
}

func noVerdict(c stats.Change) string {
	for _, m := range c.Metrics {
		if m.Change == stats.NoVerdict {
			return m.Why
		}
	}
	return "nothing was measured"
}
