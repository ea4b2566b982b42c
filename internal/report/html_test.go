package report

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/stats"
)

// sweep describes a made-up study that has something for every part of a page.
type sweep struct {
	rtts, losses, loads, reps, objects int
}

// records makes runs on paths that differ in round-trip time and loss: h3 takes less
// time the longer the way, h2 as much as h1, lossy runs scatter and some fail.
func (s sweep) records() (list []lab.Record) {
	rng := rand.New(rand.NewPCG(1, 2))
	for l := range s.loads {
		load := lab.Load{Name: fmt.Sprintf("load-%d", l), Objects: s.objects, Size: 50_000 * int64(l+1)}
		for i := range s.rtts * s.losses {
			rtt, loss := time.Duration(20+10*(i%s.rtts))*time.Millisecond, float64(i/s.rtts)/100
			p := path(fmt.Sprintf("rtt%d-loss%g", rtt.Milliseconds(), 100*loss), rtt, loss)
			for _, site := range []lab.SiteName{lab.Virtual, lab.Kernel} {
				for _, protocol := range []lab.Protocol{lab.H1, lab.H2, lab.H3} {
					c := lab.Cell{Path: p, Load: load, Stack: lab.DefaultStack, Site: site, Protocol: protocol}
					list = append(list, s.cell(c, rng)...)
					if protocol == lab.H1 {
						c.Arm = lab.ArmAA
						list = append(list, s.cell(c, rng)...)
					}
				}
			}
		}
	}
	return list
}

func (s sweep) cell(c lab.Cell, rng *rand.Rand) (list []lab.Record) {
	rtt, loss := c.Path.RTT().Seconds(), c.Path.Down.Loss.Share
	for rep := 1; rep <= s.reps; rep++ {
		trips := 4.0
		if c.Protocol == lab.H3 {
			trips = 3
		}
		seconds := trips * rtt * (1 + 0.02*rng.Float64() + 10*loss*rng.ExpFloat64())
		n := c.Load.For(c.Protocol)
		r := lab.Record{
			Format: 1, Attempt: 1, Outcome: lab.OK, Connections: &n, Wire: lab.Wire{Connections: n},
			Run:     lab.Run{ID: lab.RunID(c, rep), Cell: c, Rep: rep, Order: rep, Timeout: 5 * time.Second},
			Samples: []lab.Sample{{Metric: lab.Duration, Unit: "s", Value: &seconds}},
			Server:  lab.Side{Senders: []lab.Sender{{Transport: "tcp", CC: "reno", InitialWindow: 10, Source: "socket"}}},
		}
		usage := &lab.Usage{}
		for k := 1; k <= 10; k++ {
			usage.Delivered = append(usage.Delivered, lab.Level{At: seconds * float64(k) / 10, Bytes: int64(k) * c.Load.Bytes() / 10})
		}
		r.Wire.Down.Usage = usage
		for q := range s.objects {
			connect, first, last := rtt, 2*rtt+float64(q)*0.001, seconds
			r.Requests = append(r.Requests, lab.Request{Connect: &connect, AppConnect: &connect, StartTransfer: &first, Total: &last, Outcome: lab.OK})
		}
		if loss > 0 && rng.Float64() < 0.05 {
			r.Outcome, r.Reason, r.Samples[0].Value = lab.Timeout, "1 of 3 requests failed", nil
			q := &r.Requests[len(r.Requests)-1]
			q.Outcome, q.Total = lab.Timeout, nil
		}
		list = append(list, r)
	}
	return list
}

// input is the page of the made-up study.
func (s sweep) input() HTMLInput {
	records := s.records()
	p := lab.Plan{Samewire: "0.1.0", Study: "sweep", Question: "Where does it pay?", Seed: 7, Reps: s.reps}
	for _, r := range records {
		if r.Attempt == 1 {
			p.Runs = append(p.Runs, r.Run)
		}
	}
	out := stats.Summarise(p, records, nil)
	out.Warnings = append(out.Warnings, "the machine was busy")
	return HTMLInput{
		Out: out, Plan: p, Records: records, Study: "name: sweep\n", Version: "0.2.0",
		Command: "samewire run study.yaml", Notes: []string{"The site process was left out."},
		Pictures: []Picture{{Run: "abc-1", Caption: "a run", SVG: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>`)}},
	}
}

var small = sweep{rtts: 3, losses: 2, loads: 2, reps: 12, objects: 3}

func htmlOf(t testing.TB, in HTMLInput) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	scripts = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)
	styles  = regexp.MustCompile(`(?s)<style>.*?</style>`)
	images  = regexp.MustCompile(`data:image/svg\+xml;base64,[A-Za-z0-9+/=]*`)
	licence = regexp.MustCompile(`(?s)<details class="licences">.*?</details>`)
	digests = regexp.MustCompile(`sha256-[A-Za-z0-9+/=]+`)
)

// skeleton is a page without what other files of this folder have.
func skeleton(page string) string {
	page = styles.ReplaceAllString(page, "<style></style>")
	page = licence.ReplaceAllString(page, "")
	page = digests.ReplaceAllString(page, "sha256-…")
	page = images.ReplaceAllString(page, "data:image/svg+xml;base64,…")
	return scripts.ReplaceAllStringFunc(page, func(s string) string {
		if strings.Contains(s, "application/json") {
			return s[:strings.Index(s, ">")+1] + "…</script>"
		}
		return "<script></script>"
	})
}

func TestHTMLGolden(t *testing.T) {
	golden(t, "page.html", skeleton(htmlOf(t, sweep{rtts: 2, losses: 2, loads: 1, reps: 12, objects: 2}.input())))
}

// The question comes first, then the answer, the verdicts, the times, the pictures,
// what has to be known of them, and how to do it again.
func TestHTMLOrder(t *testing.T) {
	page := htmlOf(t, small.input())
	at := 0
	for _, part := range []string{
		"<h1>Where does it pay?</h1>", `id="answer"`, `id="verdicts"`, `id="times"`, `id="medians"`, `id="sites"`, `id="heat"`, `id="spread"`,
		`id="ecdf"`, `id="throughput"`, `id="waterfall"`, `id="resolution"`, `id="packets"`, `id="notes"`, "The site process was left out.",
		"the machine was busy", `id="repeat"`, "Seed 7", "samewire run study.yaml", "name: sweep",
	} {
		i := strings.Index(page[at:], part)
		if i < 0 {
			t.Fatalf("no %s after byte %d", part, at)
		}
		at += i
	}
}

// What a heat map shows has a kind for each sort of verdict: no difference shown is
// one of its own.
func TestHTMLHeatKinds(t *testing.T) {
	page := htmlOf(t, small.input())
	for _, kind := range []string{`"kind":"claim"`, `"kind":"same"`} {
		if !strings.Contains(page, kind) {
			t.Errorf("no field of %s", kind)
		}
	}
}

// A page says the same whoever makes it, and in whatever order records come.
func TestHTMLIsDeterministic(t *testing.T) {
	first := htmlOf(t, small.input())
	again := small.input()
	rng := rand.New(rand.NewPCG(3, 4))
	rng.Shuffle(len(again.Records), func(i, j int) { again.Records[i], again.Records[j] = again.Records[j], again.Records[i] })
	if second := htmlOf(t, again); first != second {
		t.Error("the page depends on the order of records")
	}
}

// A page asks nothing of anybody: no address is loaded, and its policy forbids it.
func TestHTMLNeedsNothingElse(t *testing.T) {
	page := skeleton(htmlOf(t, small.input()))
	for _, m := range regexp.MustCompile(`(?:src|href|action|data|poster)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("%s", m[0])
		}
	}
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)
	if policy == nil || !strings.Contains(policy[1], "default-src &#39;none&#39;") && !strings.Contains(policy[1], "default-src 'none'") || strings.Contains(policy[1], "unsafe-eval") {
		t.Errorf("policy %q", policy)
	}
}

// hostileWords is what names and reasons might be.
const hostileWords = `</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>` + "\x1b[31m\x00\u202e]]>'\"&`${1}"

// hostileInput is a study in which all that comes from elsewhere is hostile.
func hostileInput() HTMLInput {
	s := sweep{rtts: 2, losses: 2, loads: 1, reps: 8, objects: 2}
	in := s.input()
	for i := range in.Records {
		r := &in.Records[i]
		r.Run.Cell.Path.Name = hostileWords + r.Run.Cell.Path.Name
		r.Run.Cell.Load.Name += hostileWords
		r.Reason += hostileWords
		r.Run.ID = hostileWords + r.Run.ID
		r.Requests[0].Error = hostileWords
		r.Server.Senders[0].CC = hostileWords
	}
	in.Plan.Study, in.Plan.Question, in.Study, in.Command = hostileWords, hostileWords, hostileWords, hostileWords
	in.Out = stats.Summarise(in.Plan, in.Records, nil)
	in.Out.Study, in.Out.Samewire, in.Out.Warnings, in.Notes = hostileWords, hostileWords, []string{hostileWords}, []string{hostileWords}
	in.Pictures = []Picture{{Run: hostileWords, Caption: hostileWords, SVG: []byte(hostileWords)}}
	return in
}

func TestHTMLHostileWords(t *testing.T) {
	page := htmlOf(t, hostileInput())
	if n, want := strings.Count(page, "</script>"), strings.Count(page, "<script"); n != want {
		t.Errorf("%d ends of %d scripts", n, want)
	}
	for _, bad := range []string{"<script>alert", "<img src=x", "\x1b", "\x00", "<!--", "onerror=alert(2)>"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q: %q", bad, page[max(strings.Index(page, bad)-200, 0):][:300])
		}
	}
	if !strings.Contains(page, "alert(1)") {
		t.Error("the words are not there at all: the test looks for nothing")
	}
}

// Words of a megabyte do not make a page that does not open.
func TestHTMLLongWords(t *testing.T) {
	long := strings.Repeat("é\u0301<", 1<<18)
	in := sweep{rtts: 2, losses: 2, loads: 1, reps: 4, objects: 1}.input()
	plain := len(htmlOf(t, in))
	for i := range in.Records {
		in.Records[i].Run.Cell.Path.Name += long
		in.Records[i].Run.Cell.Load.Name += long
		in.Records[i].Reason = long
	}
	in.Out = stats.Summarise(in.Plan, in.Records, nil)
	in.Plan.Question, in.Out.Warnings, in.Notes = long, []string{long}, []string{long}
	in.Pictures[0].Caption = long
	if n := len(htmlOf(t, in)); n > plain+1<<20 {
		t.Errorf("%d bytes, and %d without long words", n, plain)
	}
}

// A hundred thousand records make a page that opens, whether they are many runs of
// few cells or few runs of many; what is left out is said.
func TestHTMLIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 200,000 records")
	}
	for name, s := range map[string]sweep{
		"many runs":  {rtts: 5, losses: 4, loads: 2, reps: 313, objects: 2},
		"many cells": {rtts: 50, losses: 50, loads: 2, reps: 3, objects: 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := s.input()
			if len(in.Records) < 100_000 {
				t.Fatalf("%d records", len(in.Records))
			}
			page := htmlOf(t, in)
			t.Logf("%d records, %d bytes", len(in.Records), len(page))
			if len(page) > 20e6 {
				t.Errorf("%d bytes", len(page))
			}
			if n := strings.Count(page, "<tr>"); n > 3*mostPageRows+mostFields+100*mostLabels {
				t.Errorf("%d rows", n)
			}
			if !strings.Contains(page, "not drawn") && !strings.Contains(page, "are drawn") {
				t.Error("nothing is said of what was left out")
			}
		})
	}
}

func BenchmarkHTML(b *testing.B) {
	for name, s := range map[string]sweep{
		"runs":  {rtts: 5, losses: 4, loads: 2, reps: 313, objects: 10},
		"cells": {rtts: 50, losses: 50, loads: 2, reps: 3, objects: 2},
	} {
		in := s.input()
		b.Run(fmt.Sprintf("%s-%d", name, len(in.Records)), func(b *testing.B) {
			for b.Loop() {
				if err := HTML(io.Discard, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
