package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// needChromium finds a browser, and skips the test where there is none, unless
// there must be.
func needChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const why = "chromium is not installed: the page is not opened in a browser"
	if os.Getenv("SAMEWIRE_REQUIRE_CHROMIUM") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
	return ""
}

// probe writes what only a browser knows into the page, once the charts are drawn.
const probe = `(() => {
	const root = document.documentElement, look = () => {
		if (root.dataset.charts !== "done") return setTimeout(look, 20);
		root.dataset.wide = String(root.scrollWidth > root.clientWidth + 1);
		root.dataset.widest = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > root.clientWidth + 1).map((e) => e.tagName + " " + e.className + " " + Math.round(e.getBoundingClientRect().right)).slice(0, 5).join(", ") + " of " + root.clientWidth;
		root.dataset.dark = String(getComputedStyle(document.body).backgroundColor + getComputedStyle(root).backgroundColor);
		for (const chart of document.querySelectorAll(".chart")) {
			const box = chart.getBoundingClientRect(), marks = [...chart.querySelectorAll("svg .mark-group .role-mark path, svg .mark-group .role-mark line, svg .mark-group .role-mark text, svg .role-mark path, svg .role-mark line")];
			chart.dataset.marks = marks.filter((m) => { const b = m.getBoundingClientRect(); return b.width + b.height > 0; }).length;
			const svg = chart.querySelector("svg");
			chart.dataset.outside = svg ? [...svg.querySelectorAll("text")].filter((x) => { const b = x.getBoundingClientRect(); return b.width > 0 && (b.left < box.left - 1 || b.right > box.right + 1); }).length : -1;
		}
		root.dataset.probed = "yes";
	};
	look();
})();`

// withProbe adds the probe, and allows it.
func withProbe(t *testing.T, page string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(probe))
	digest := "&#39;sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "&#39;"
	changed := strings.Replace(page, "script-src ", "script-src "+digest+" ", 1)
	if changed == page {
		t.Fatal("the page has no policy to be changed")
	}
	return strings.Replace(changed, "</body>", "<script>"+probe+"</script></body>", 1)
}

// browsed is a page as a browser made it.
type browsed struct {
	dom     string
	console []string
}

// browse opens a page from a file, without a network, and waits for its charts.
func browse(t *testing.T, page string, flags ...string) browsed {
	t.Helper()
	chromium := needChromium(t)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{
		"--headless=new", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
		"--proxy-server=127.0.0.1:9", // nobody listens there
		"--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--v=0", "--virtual-time-budget=120000", "--dump-dom",
	}, flags...)
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, append(args, "file://"+file)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	b := browsed{dom: out.String()}
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "CONSOLE") {
			b.console = append(b.console, strings.TrimSpace(line))
		}
	}
	return b
}

var (
	chartTags = regexp.MustCompile(`<div class="chart" [^>]*>`)
	attribute = func(tag, name string) string {
		m := regexp.MustCompile(`\b` + name + `="([^"]*)"`).FindStringSubmatch(tag)
		if m == nil {
			return ""
		}
		return m[1]
	}
)

// faults is all that is wrong with a page in a browser.
func (b browsed) faults(charts int) (list []string) {
	for _, line := range b.console {
		list = append(list, "console: "+line)
	}
	root := regexp.MustCompile(`<html[^>]*>`).FindString(b.dom)
	if attribute(root, "data-probed") != "yes" {
		return append(list, "the charts were not finished: "+root)
	}
	if attribute(root, "data-wide") != "false" {
		list = append(list, "the page is wider than its window: "+attribute(root, "data-widest"))
	}
	tags := chartTags.FindAllString(b.dom, -1)
	if len(tags) != charts {
		list = append(list, fmt.Sprintf("%d charts, want %d", len(tags), charts))
	}
	for _, tag := range tags {
		marks, err := strconv.Atoi(attribute(tag, "data-marks"))
		if attribute(tag, "data-drawn") != "yes" || err != nil || marks == 0 {
			list = append(list, "not drawn: "+tag)
		}
		if attribute(tag, "data-outside") != "0" {
			list = append(list, "words are cut off: "+tag)
		}
	}
	return list
}

// The page draws all its charts in a real browser, on a desk and on a phone, in light
// and dark, without a word on the console, and without being refused anything by its
// policy.
func TestBrowserDrawsThePage(t *testing.T) {
	page := htmlOf(t, small.input())
	charts := len(chartTags.FindAllString(page, -1))
	if charts < 20 {
		t.Fatalf("%d charts", charts)
	}
	for name, flags := range map[string][]string{
		"desk":  {"--window-size=1280,900"},
		"phone": {"--window-size=390,800"},
		"dark":  {"--window-size=1280,900", "--blink-settings=preferredColorScheme=0"},
	} {
		t.Run(name, func(t *testing.T) {
			b := browse(t, withProbe(t, page), flags...)
			for _, fault := range b.faults(charts) {
				t.Error(fault)
			}
			dark := strings.Contains(attribute(regexp.MustCompile(`<html[^>]*>`).FindString(b.dom), "data-dark"), "rgb(20, 24, 29)")
			if dark != (name == "dark") {
				t.Errorf("dark is %v", dark)
			}
		})
	}
}

// The test above would tell: of a script that the policy forbids, of a chart whose
// data are broken, and of one without marks.
func TestBrowserTellsOfFaults(t *testing.T) {
	page := htmlOf(t, sweep{rtts: 2, losses: 1, loads: 1, reps: 8, objects: 1}.input())
	charts := len(chartTags.FindAllString(page, -1))
	for name, change := range map[string]struct{ from, to, tells string }{
		"another script": {"</main>", "</main><script>document.title = 1</script>", "Content Security Policy"},
		"broken data":    {`{"kind":"medians"`, `{"kind":"nothing"`, "not drawn"},
		"no marks":       {`{"kind":"ecdf","marks":[`, `{"kind":"ecdf","others":[`, "not drawn"},
		"wide":           {"<main id", `<div style="width:4000px">x</div><main id`, "wider"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no marks" {
				change.from = regexp.MustCompile(`\{"kind":"ecdf".*?"marks":\[`).FindString(page)
				change.to = strings.Replace(change.from, `"marks"`, `"marks":[],"others"`, 1)
			}
			changed := strings.Replace(page, change.from, change.to, 1)
			if changed == page {
				t.Fatalf("nothing to change: %q", change.from)
			}
			faults := browse(t, withProbe(t, changed), "--window-size=1280,900").faults(charts)
			if !strings.Contains(strings.Join(faults, "\n"), change.tells) {
				t.Errorf("told of %q", faults)
			}
		})
	}
}

// Hostile words are harmless in a browser, too.
func TestBrowserHostileWords(t *testing.T) {
	page := htmlOf(t, hostileInput())
	b := browse(t, withProbe(t, page), "--window-size=1280,900")
	for _, fault := range b.faults(len(chartTags.FindAllString(page, -1))) {
		if !strings.Contains(fault, "words are cut off") {
			t.Error(fault)
		}
	}
}
