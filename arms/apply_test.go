package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const was = "one\ntwo\nthree\nfour\nfive\nsix\n"

// patch changes two places of a file, and makes another.
const patch = `--- a/x/numbers
+++ b/x/numbers
@@ -1,2 +1,2 @@
-one
+ONE
 two
@@ -5,2 +5,3 @@
 five
+five and a half
 six
--- /dev/null
+++ b/new
@@ -0,0 +1,2 @@
+hello
+--- a line that looks like a head
`

func tree(t *testing.T, numbers string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "x", "numbers"), []byte(numbers), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestApply(t *testing.T) {
	dir := tree(t, was)
	if err := apply(patch, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"x/numbers": "ONE\ntwo\nthree\nfour\nfive\nfive and a half\nsix\n",
		"new":       "hello\n--- a line that looks like a head\n",
	} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if err := apply(patch, dir); err == nil {
		t.Error("the patch was applied twice")
	}
}

// A patch for another version is refused, also where a looser tool would have
// found a place for it.
func TestAPatchThatDoesNotFitIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, patch, words string }{
		"another line":  {strings.Replace(was, "two", "2", 1), patch, `line 2 is "2\n", want "two\n"`},
		"moved":         {"zero\n" + was, patch, "x/numbers: line 1"},
		"too short":     {"one\ntwo\n", patch, "line 5: no such place"},
		"cut short":     {was, patch[:strings.Index(patch, " six")], "cut short"},
		"no patch":      {was, "", "cut short"},
		"something":     {was, "hello\n", "no part of a unified diff"},
		"a wrong count": {was, strings.Replace(patch, "-5,2 +5,3", "-5,1 +5,3", 1), "more lines"},
		"no file":       {was, strings.Replace(patch, "b/x/numbers", "b/y", 1), "no such file"},
	} {
		if err := apply(c.patch, tree(t, c.file)); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.words)
		}
	}
}

// The patches fit the versions that go.mod asks for, to the letter.
func TestPatchesFit(t *testing.T) {
	t.Chdir("..")
	dir := t.TempDir()
	if err := prepare(dir, modules); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(dir, "samewire.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		want := "replace " + m.module + " => " + filepath.ToSlash(filepath.Join(dir, m.folder)) + "\n"
		if !strings.Contains(string(mod), want) {
			t.Errorf("the module file has no %q", want)
		}
	}
	broken := []patched{{modules[1].module, modules[1].folder, strings.Replace(quicGo, "pacer.Budget", "pacer.Budgets", 1)}}
	if err := prepare(dir, broken); err == nil || !strings.Contains(err.Error(), "cubic_sender.go") {
		t.Errorf("a patch for another version: %v", err)
	}
	if got := replacement(filepath.Join("bin", "arms")); got != "./bin/arms" {
		t.Errorf("replacement of bin/arms: %s", got)
	}
}
