package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/gauge"
	"github.com/samewire/samewire/internal/lab"
)

// linkCheck runs `samewire link check --json` and returns what it said.
func linkCheck(t *testing.T, args ...string) (report linkReport, status string) {
	t.Helper()
	samewire, _ := build(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, samewire, append([]string{"link", "check", "--json"}, args...)...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	status = "0"
	if err != nil {
		status = exitStatus(err)
	}
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("%v: exit status %s, %v: %s", args, status, jsonErr, said.String())
	}
	return report, status
}

func checkOf(t *testing.T, r linkReport, name, direction string) gauge.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name && c.Direction == direction {
			return c
		}
	}
	t.Fatalf("path %s: no check %s %s", r.Notation, name, direction)
	return gauge.Check{}
}

// The emulated path is what it claims to be, and each property of it was really
// looked at.
func TestLinkCheckHolds(t *testing.T) {
	carrierOf(t, lab.Kernel, 1) // skips where it cannot run
	for _, c := range []struct {
		path string
		must []string // up: judged, not merely left unchecked
		tcp  bool
	}{
		{"rtt 40ms", []string{gauge.Delay, gauge.LossShare, gauge.LossShareFull, gauge.Reordered, gauge.Duplicated, gauge.MTU}, false},
		{"rtt 20ms rate 10mbit queue 50p", []string{gauge.Delay, gauge.Rate, gauge.QueueWait, gauge.Queue}, true},
		{"rtt 20ms family ipv6 down{rate 20mbit loss 1%} up{loss 5%}", []string{gauge.LossShare, gauge.LossRun, gauge.LossShareFull}, false},
		{"rtt 20ms mtu 1400", []string{gauge.MTU, gauge.TooBig}, false},
	} {
		t.Run(c.path, func(t *testing.T) {
			var r linkReport
			for range 6 { // others use the machine
				status := ""
				args := []string{"--seconds", "0.6", "--path", c.path}
				if !c.tcp {
					args = append(args, "--only", "packets")
				}
				r, status = linkCheck(t, args...)
				if (status == "0") != r.OK || (r.Fails == 0) != r.OK || status != "0" && status != "4" {
					t.Fatalf("exit status %s, ok %v, %d fail", status, r.OK, r.Fails)
				}
				if r.OK && judged(t, r, c.must) {
					break
				}
			}
			for _, f := range gauge.Failed(r.Checks) {
				t.Errorf("%s %s fails: %s", f.Name, f.Direction, describeCheck(f))
			}
			for _, name := range c.must {
				if got := checkOf(t, r, name, "up"); got.State != gauge.Holds {
					t.Errorf("%s up is %s: %s", name, got.State, got.Note)
				}
			}
			if !c.tcp {
				return
			}
			for _, name := range []string{gauge.Capacity, gauge.Goodput} {
				if got := checkOf(t, r, name, "up"); got.Measured == nil || *got.Measured <= 0 {
					t.Errorf("%s: %+v", name, got)
				}
			}
		})
	}
	wantNoLeftovers(t)
}

func judged(t *testing.T, r linkReport, names []string) bool {
	for _, name := range names {
		if checkOf(t, r, name, "up").State != gauge.Holds {
			return false
		}
	}
	return true
}

func describeCheck(c gauge.Check) string {
	return "asked " + quantity(c.Asked, c.Unit) + ", measured " + quantity(c.Measured, c.Unit) + " ± " + quantity(c.Tolerance, c.Unit) + " (" + c.Note + ")"
}

// A path that is not what was asked for is found out, by the check that is about
// it, and is exit status 4.
func TestLinkCheckFindsOutAWrongPath(t *testing.T) {
	carrierOf(t, lab.Kernel, 1)
	for _, c := range []struct{ asked, carried, fails, flag string }{
		{"rtt 20ms", "rtt 30ms", gauge.RTT, "--quick"},
		{"rtt 20ms rate 10mbit", "rtt 20ms rate 9mbit", gauge.Rate, "--quick"},
		{"rtt 20ms mtu 1400", "rtt 20ms mtu 1300", gauge.MTU, "--quick"},
		{"rtt 20ms loss 5%", "rtt 20ms loss 8%", gauge.LossShare, "--seconds=1 --only=packets"},
		{"rtt 20ms rate 10mbit queue 50p", "rtt 20ms rate 10mbit queue 30p", gauge.QueueWait, "--seconds=1 --only=packets"},
		{"rtt 20ms rate 10mbit queue 50p", "rtt 20ms rate 10mbit queue 50p burst 60kB", gauge.Queue, "--seconds=1 --only=packets"},
		{"rtt 20ms rate 10mbit", "rtt 20ms rate 10mbit 14", gauge.Rate, "--seconds=1 --only=packets"},
		{"rtt 20ms loss 5% ecn", "rtt 20ms loss 5%", gauge.Marked, "--seconds=0.5 --only=packets"},
		{"rtt 20ms rate 10mbit queue codel", "rtt 20ms rate 10mbit queue codel ecn", gauge.QueueMarks, "--seconds=1 --only=packets"},
		{"rtt 20ms rebind udp every 500ms", "rtt 20ms", gauge.Rebound, "--seconds=0.5 --only=packets"},
		{"rtt 20ms duplicate 10%", "rtt 20ms duplicate 10% 60%", gauge.DuplicatedNext, "--seconds=1 --only=packets"},
	} {
		t.Run(c.asked, func(t *testing.T) {
			patiently(t, func() string { // on a busy machine much stays unchecked
				r, status := linkCheck(t, append(strings.Fields(c.flag), "--path", c.asked, "--carry", c.carried)...)
				if status != "4" || r.OK || r.Fails == 0 {
					return fmt.Sprintf("exit status %s, want 4: %d fail", status, r.Fails)
				}
				failed := gauge.Failed(r.Checks)
				if slices.ContainsFunc(failed, func(f gauge.Check) bool { return f.Name == c.fails }) {
					return ""
				}
				return fmt.Sprintf("%s does not fail, but %+v", c.fails, failed)
			})
		})
	}
}

// What makes no sense on a path is unchecked, and neither holds nor fails.
func TestLinkCheckLeavesOutWhatMakesNoSense(t *testing.T) {
	carrierOf(t, lab.Kernel, 1)
	r, status := linkCheck(t, "--quick", "--path", "rtt 10ms loss 100%")
	if status != "0" {
		t.Errorf("exit status %s", status)
	}
	for _, name := range []string{gauge.Delay, gauge.MTU} {
		if c := checkOf(t, r, name, "up"); c.State != gauge.Unchecked || c.OK != nil || c.Note == "" {
			t.Errorf("%s is %s: %q", name, c.State, c.Note)
		}
	}
	if r.Holds != 0 || r.Unchecked == 0 {
		t.Errorf("%d hold, %d unchecked", r.Holds, r.Unchecked)
	}
}

func TestLinkCheckInterruptedOrKilled(t *testing.T) {
	carrierOf(t, lab.Kernel, 1)
	samewire, _ := build(t)
	for signal, want := range map[syscall.Signal]string{syscall.SIGINT: "130", syscall.SIGKILL: "-1"} {
		c := exec.Command(samewire, "link", "check", "--seconds", "60", "--path", "rtt 40ms")
		var said strings.Builder
		c.Stdout, c.Stderr = &said, &said
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(30 * time.Second)
		for len(leftovers(t)) < 2 { // until the gauge is there
			if time.Now().After(deadline) {
				t.Fatalf("no gauge was started: %s", said.String())
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if got := exitStatus(c.Wait()); got != want {
			t.Errorf("%v: exit status %s, want %s: %s", signal, got, want, said.String())
		}
		wantNoLeftovers(t)
	}
}

func TestLinkCheckWithoutTUN(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("hiding /dev/net/tun needs root")
	}
	samewire, _ := build(t)
	script := "mount -t tmpfs none /dev/net && exec " + samewire + " link check --quick"
	said, err := exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script).CombinedOutput()
	if err == nil || exitStatus(err) != "4" || !strings.Contains(string(said), "/dev/net/tun") {
		t.Errorf("without TUN: %v: %s", err, said)
	}
}

// An ordinary user measures as root does, where /dev/net/tun may be opened.
func TestLinkCheckAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("becoming another user needs root")
	}
	carrierOf(t, lab.Kernel, 1)
	samewire, _ := build(t)
	script := `mount -t tmpfs none /dev/net && mknod /dev/net/tun c 10 200 && chmod 666 /dev/net/tun && cd /` +
		` && exec setpriv --reuid=65534 --regid=65534 --clear-groups ` + samewire + ` link check --seconds 0.5 --path 'rtt 20ms rate 20mbit'`
	var said []byte
	var err error
	for range 6 { // others use the machine, and an ordinary user has no priority
		said, err = exec.CommandContext(t.Context(), "unshare", "-m", "sh", "-c", script).CombinedOutput()
		if err == nil {
			break
		}
	}
	if err != nil || !strings.Contains(string(said), "0 fail") || !strings.Contains(string(said), "bare veth pair") {
		t.Errorf("as an ordinary user: %v: %s", err, said)
	}
	wantNoLeftovers(t)
}

// A study on the kernel site measures its paths first, unless it is told not to.
func TestRunChecksItsPaths(t *testing.T) {
	carrierOf(t, lab.Kernel, 1)
	samewire, _ := build(t)
	for flag, want := range map[string]bool{"": true, "--no-check": false} {
		args := []string{"run", "--site", "kernel", "--reps", "1", "--loads", "cold", "--paths", "wired", "--out", t.TempDir() + "/out"}
		if flag != "" {
			args = append(args, flag)
		}
		var said []byte
		var err error
		for range 6 { // others use the machine
			if said, err = exec.CommandContext(t.Context(), samewire, args...).CombinedOutput(); err == nil {
				break
			}
		}
		if got := strings.Contains(string(said), "delay, rate and MTU of 1 path checked"); err != nil || got != want {
			t.Errorf("run %s: checked is %v, want %v: %v: %s", flag, got, want, err, said)
		}
	}
}
