package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// study starts samewire on a study that takes a while, and returns when n runs
// are on disk.
func study(t *testing.T, out string, site string, n int) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	samewire, _ := build(t)
	var said bytes.Buffer
	c := exec.Command(samewire, "run", "--site", site, "--paths", "intercontinental", "--loads", "fifty-small",
		"--reps", "200", "--no-check", "--out", out)
	c.Stdout, c.Stderr = &said, &said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	deadline := time.Now().Add(time.Minute)
	for lines(out) < n {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute there are %d records of %d: %s", lines(out), n, said.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	return c, &said
}

func lines(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		return 0
	}
	return bytes.Count(b, []byte("\n"))
}

// leftovers lists the living processes that run the test's programs.
func leftovers(t *testing.T) []string {
	t.Helper()
	samewire, virtual := build(t)
	var left []string
	entries, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if exe, err := os.Readlink(e); err == nil && (exe == samewire || exe == virtual) {
			cmd, _ := os.ReadFile(filepath.Join(filepath.Dir(e), "cmdline"))
			left = append(left, filepath.Dir(e)+" "+strings.ReplaceAll(string(cmd), "\x00", " "))
		}
	}
	return left
}

func wantNoLeftovers(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		left := leftovers(t)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still running: %q", left)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func eachSite(t *testing.T, f func(t *testing.T, site string)) {
	for _, site := range []string{"virtual", "kernel"} {
		t.Run(site, func(t *testing.T) {
			if site == "kernel" {
				carrierOf(t, "kernel", 1) // skips where it cannot run
			}
			f(t, site)
		})
	}
}

func TestInterruptKeepsWhatWasMeasured(t *testing.T) {
	eachSite(t, func(t *testing.T, site string) {
		out := filepath.Join(t.TempDir(), "out")
		c, said := study(t, out, site, 2)
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); exitStatus(err) != "130" {
			t.Errorf("exit status %s, want 130: %s", exitStatus(err), said)
		}
		if !strings.Contains(said.String(), "intercontinental") || !strings.Contains(said.String(), "fifty-small") {
			t.Errorf("no table of what was measured: %s", said)
		}
		wantNoLeftovers(t)
	})
}

func TestKillLeavesNothingRunningAndLosesNothing(t *testing.T) {
	eachSite(t, func(t *testing.T, site string) {
		out := filepath.Join(t.TempDir(), "out")
		c, _ := study(t, out, site, 3)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		wantNoLeftovers(t)
		before := lines(out)
		samewire, _ := build(t)
		report := exec.Command(samewire, "report", out)
		said, err := report.CombinedOutput()
		if err != nil || !bytes.Contains(said, []byte("intercontinental")) {
			t.Fatalf("report after the kill: %v: %s", err, said)
		}
		// The study goes on where it stopped.
		c, _ = study(t, out, site, before+2)
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		seen := map[string]bool{}
		b, err := os.ReadFile(filepath.Join(out, "records.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if id := runID(line); seen[id] && strings.Contains(line, `"attempt":1,`) {
				t.Errorf("run %s was carried out again", id)
			} else {
				seen[id] = true
			}
		}
	})
}

func runID(line string) string {
	_, rest, _ := strings.Cut(line, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// A worker that is killed costs one run; the study goes on.
func TestAKilledWorkerIsARecord(t *testing.T) {
	eachSite(t, func(t *testing.T, site string) {
		out := filepath.Join(t.TempDir(), "out")
		c, said := study(t, out, site, 1)
		deadline := time.Now().Add(time.Minute)
		for killed := false; !killed; {
			for _, p := range leftovers(t) {
				dir, cmd, _ := strings.Cut(p, " ")
				pid, _ := strconv.Atoi(filepath.Base(dir))
				if strings.Contains(cmd, " worker ") {
					_ = syscall.Kill(pid, syscall.SIGKILL)
					killed = true
				}
			}
			if time.Now().After(deadline) {
				t.Fatal("there is no worker")
			}
		}
		at := lines(out)
		for lines(out) < at+4 {
			if time.Now().After(deadline) {
				t.Fatalf("the study did not go on: %s", said)
			}
			time.Sleep(20 * time.Millisecond)
		}
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
		b, err := os.ReadFile(filepath.Join(out, "records.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), "the worker died: signal: killed") {
			t.Error("no record says that the worker died")
		}
		wantNoLeftovers(t)
	})
}

// Without /dev/net/tun the study is carried out on the other sites, and says
// what is missing; asked for by name, the kernel site is exit status 4.
func TestWithoutTUN(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("hiding /dev/net/tun needs root")
	}
	samewire, _ := build(t)
	run := func(args string) (string, string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		script := "mount -t tmpfs none /dev/net && exec " + samewire + " " + args
		said, err := exec.CommandContext(ctx, "unshare", "-m", "sh", "-c", script).CombinedOutput()
		status := "0"
		if err != nil {
			status = exitStatus(err)
		}
		return status, string(said)
	}
	dir := t.TempDir()
	status, said := run("run --reps 1 --loads cold --paths wired --out " + dir + "/a")
	if status != "0" || !strings.Contains(said, "/dev/net/tun") || !strings.Contains(said, "121 ms") {
		t.Errorf("without TUN: exit status %s: %s", status, said)
	}
	status, said = run("run --site kernel --reps 1 --loads cold --paths wired --out " + dir + "/b")
	if status != "4" || !strings.Contains(said, "/dev/net/tun") {
		t.Errorf("asked for the kernel site: exit status %s, want 4: %s", status, said)
	}
}

// An ordinary user has the kernel site, too, where /dev/net/tun may be opened
// and user namespaces are allowed.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	carrierOf(t, "kernel", 1) // skips where it cannot run
	samewire, _ := build(t)
	dir, err := os.MkdirTemp("", "samewire-user") // t.TempDir's parent is root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	// A TUN device as distributions have it, in a mount namespace of its own.
	script := `mount -t tmpfs none /dev/net && mknod /dev/net/tun c 10 200 && chmod 666 /dev/net/tun && cd ` + dir +
		` && exec setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=` + dir + ` ` + samewire +
		` run --site kernel --reps 1 --loads cold --paths wired --keep all --no-check --out ` + dir + `/out`
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, "unshare", "-m", "sh", "-c", script).CombinedOutput()
	if err != nil || lines(filepath.Join(dir, "out")) < 3 || !bytes.Contains(said, []byte("wired")) {
		t.Errorf("as an ordinary user: %v: %s", err, said)
	}
	for _, r := range recordsOf(t, filepath.Join(dir, "out")) {
		if r.Kept == nil || r.Kept.Error != "" {
			t.Errorf("as an ordinary user: kept %+v", r.Kept)
		} else if c := mustCapture(t, filepath.Join(dir, "out", r.Kept.Capture)); len(c.Secrets) == 0 {
			t.Error("as an ordinary user: a capture without secrets")
		}
	}
	wantNoLeftovers(t)
}
