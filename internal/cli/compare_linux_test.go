package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/site/kernel"
)

// One build measured twice on the kernel, with other seeds: no threshold on times
// is crossed, however busy the machine is.
func TestCompareOneBuildOnTheKernel(t *testing.T) {
	if err := kernel.Check(); err != nil {
		needKernel(t, err.Error())
	}
	samewire, _ := build(t)
	dir := t.TempDir()
	study := filepath.Join(dir, "study.yaml")
	text := "name: twice\npaths:\n  wired: {rtt: 20ms, rate: 50mbit}\nloads: [cold, ten-small]\nprotocols: [h1, h2, h3]\nsites: [kernel]\nreps: 8\n"
	if err := os.WriteFile(study, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, seed := range []string{"1", "2"} {
		// What the path check finds on a busy machine is not what is tested here.
		said, err := exec.Command(samewire, "run", study, "--no-check", "--seed", seed, "--out", filepath.Join(dir, seed)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	said, err := exec.Command(samewire, "compare", filepath.Join(dir, "1"), filepath.Join(dir, "2"),
		"--fail-if", "median +5%", "--fail-if", "ttfb median +5%", "--fail-if", "worst +20%").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !strings.Contains(string(said), "6 cells compared") {
		t.Errorf("%s", said)
	}
}
