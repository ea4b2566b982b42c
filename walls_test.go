// The walls of the house: which package may import which, and what the ground
// floor must never touch. ARCHITECTURE.md says why.
package samewire_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/samewire/samewire/"

// ground lists the packages that are pure, and what of samewire each may import.
var ground = map[string][]string{
	"internal/lab":   {},
	"internal/plan":  {"internal/lab"},
	"internal/link":  {"internal/lab"},
	"internal/wire":  {"internal/lab", "internal/wire/ip", "internal/wire/tls", "internal/wire/quic", "internal/wire/keylog", "internal/wire/http"},
	"internal/story": {"internal/lab", "internal/wire", "internal/wire/ip", "internal/wire/tls", "internal/wire/quic", "internal/wire/http"},

	// How the packets of a wire are read and kept.
	"internal/wire/ip":      {},
	"internal/wire/keylog":  {},
	"internal/wire/tls":     {"internal/lab", "internal/wire/keylog"},
	"internal/wire/quic":    {"internal/lab", "internal/wire/keylog", "internal/wire/tls"},
	"internal/wire/http":    {"internal/lab"},
	"internal/wire/hostile": {}, // for tests
	"internal/wire/pcapng":  {"internal/lab", "internal/wire", "internal/wire/ip"},
	"internal/model":        {"internal/lab"},
	"internal/stats":        {"internal/lab"},
	"internal/report":       {"internal/lab", "internal/stats"},
	"internal/doctor":       {},
}

// world lists the packages that each touch one piece of the world. They may
// import the ground floor, and none may import another.
var world = []string{
	"internal/site/kernel", "internal/site/inproc", "internal/site/sockets", "internal/site/worker",
	"internal/origin", "internal/load", "internal/peer", "internal/store", "internal/probe", "internal/gauge",
}

// roof joins them. sitetest is the conformance suite of all sites: it holds
// them through the runner's interfaces.
var roof = map[string][]string{
	"internal/runner":        {"internal/lab"},
	"internal/site/sitetest": {"internal/lab", "internal/link", "internal/runner"},
	"internal/cli":           nil, // everything
	"cmd/samewire":           {"internal/cli"},
}

// impure are imports by which a ground package would reach for the world.
var impure = map[string]string{
	"os": "files and environment", "os/exec": "processes", "os/signal": "signals", "io/ioutil": "files",
	"net": "sockets", "net/http": "sockets", "syscall": "the kernel", "golang.org/x/sys/unix": "the kernel",
	"crypto/rand": "global randomness", "math/rand": "global randomness", "unsafe": "memory",
	"context": "time limits", "log": "standard error",
}

// clocks and dice are the functions that a ground package may not call.
var forbiddenCalls = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"rand": {"Int", "IntN", "Int64", "Int64N", "Uint32", "Uint64", "Uint64N", "Float64", "NormFloat64", "ExpFloat64", "Perm", "Shuffle", "N"},
}

type source struct {
	dir, name string
	file      *ast.File
	test      bool
}

func TestWalls(t *testing.T) {
	sources := parseTree(t)
	seen := map[string]bool{}
	for _, s := range sources {
		seen[s.dir] = true
		for _, imported := range s.file.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := trespass(s, path); why != "" {
				t.Errorf("%s/%s imports %s: %s", s.dir, s.name, path, why)
			}
		}
	}
	for dir := range seen {
		if _, isGround := ground[dir]; isGround || slices.Contains(world, dir) || dir == "." {
			continue
		}
		if _, isRoof := roof[dir]; !isRoof {
			t.Errorf("package %s stands on no floor: name it in walls_test.go and ARCHITECTURE.md", dir)
		}
	}
	if len(seen) < 10 {
		t.Errorf("saw only %d packages: the test looks at the wrong folder", len(seen))
	}
}

func TestGroundReadsNoClockAndThrowsNoDice(t *testing.T) {
	for _, s := range parseTree(t) {
		if _, isGround := ground[s.dir]; !isGround || s.test {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := selector.X.(*ast.Ident); ok && slices.Contains(forbiddenCalls[x.Name], selector.Sel.Name) {
				t.Errorf("%s/%s uses %s.%s: on the ground floor time and randomness come in as arguments",
					s.dir, s.name, x.Name, selector.Sel.Name)
			}
			return true
		})
	}
}

// trespass says why a source file may not import path; empty: it may.
func trespass(s source, path string) string {
	inner, own := strings.CutPrefix(path, module)
	if allowed, isGround := ground[s.dir]; isGround {
		if why, bad := impure[path]; bad && !s.test {
			return "a ground package is pure, and this reaches for " + why
		}
		// What a test makes its input with.
		below := s.test && (strings.HasPrefix(inner, s.dir+"/") || inner == "internal/wire/hostile")
		if own && inner != s.dir && !below && !slices.Contains(allowed, inner) {
			return "this ground package may import of samewire only " + strings.Join(append([]string{"nothing"}, allowed...), ", ")
		}
		return ""
	}
	if !own || inner == s.dir {
		return ""
	}
	if slices.Contains(world, s.dir) {
		if _, isGround := ground[inner]; isGround {
			return ""
		}
		return "a package of the middle floor may import the ground floor only; the roof joins what the world has"
	}
	if allowed, isRoof := roof[s.dir]; isRoof && allowed != nil && !slices.Contains(allowed, inner) {
		return "the roof's " + s.dir + " may import only " + strings.Join(allowed, ", ")
	}
	return ""
}

func parseTree(t *testing.T) []source {
	t.Helper()
	var list []source
	for _, root := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && d.Name() == "testdata" {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			list = append(list, source{filepath.ToSlash(filepath.Dir(path)), d.Name(), file, strings.HasSuffix(path, "_test.go")})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}
