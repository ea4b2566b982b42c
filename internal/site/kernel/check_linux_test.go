package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// playPrivateTUN gives the rest of its arguments a /dev/net/tun that everybody
// may open, and nobody else sees, and carries them out as an ordinary user.
func playPrivateTUN(args []string) error {
	if err := hideDevNet(); err != nil {
		return err
	}
	if err := unix.Mknod(tunPath, unix.S_IFCHR, int(unix.Mkdev(10, 200))); err != nil {
		return fmt.Errorf("make %s: %w", tunPath, err)
	}
	if err := os.Chmod(tunPath, 0o666); err != nil {
		return err
	}
	return asNobody(args[0])
}

// playLockedTUN is the same with a device that only root may open.
func playLockedTUN(args []string) error {
	if err := hideDevNet(); err != nil {
		return err
	}
	if err := unix.Mknod(tunPath, unix.S_IFCHR|0o600, int(unix.Mkdev(10, 200))); err != nil {
		return fmt.Errorf("make %s: %w", tunPath, err)
	}
	return asNobody(args[0])
}

// asNobody lets an ordinary user play a part.
func asNobody(part string) error {
	runtime.LockOSThread()
	const nobody = 65534
	cmd := role(exec.Command(self), part)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL,
	}
	return cmd.Run()
}

func hideDevNet() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", filepath.Dir(tunPath), "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("hide %s: %w", tunPath, err)
	}
	return nil
}

// playNoTUN checks a machine without the device.
func playNoTUN([]string) error {
	if err := hideDevNet(); err != nil {
		return err
	}
	return Check()
}

func playCheck([]string) error { return Check() }

// playLimit checks a machine that allows no network namespaces.
func playLimit([]string) error {
	if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("0"), 0); err != nil {
		return err
	}
	return Check()
}

// realRoot says whether the tests run as root outside any user namespace.
// Elsewhere all of them run as an ordinary user's worker anyway.
func realRoot() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	f := words(string(b))
	return err == nil && len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295"
}

// inUserNamespace plays a part as root of a new user namespace.
func inUserNamespace(part string) (string, error) {
	cmd := role(exec.Command(self), part)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCheckSaysWhatIsMissing(t *testing.T) {
	requireKernel(t)
	t.Run("device", func(t *testing.T) {
		out, err := inUserNamespace("no-tun")
		wantSaid(t, out, err, tunPath+" is missing", "--device "+tunPath, "modprobe tun")
	})
	t.Run("limit", func(t *testing.T) {
		out, err := inUserNamespace("limit")
		wantSaid(t, out, err, "the limit on namespaces is reached", "sysctl -w user.max_net_namespaces=")
	})
	if !realRoot() {
		return
	}
	t.Run("permission", func(t *testing.T) {
		cmd := role(exec.Command(self, "check"), "locked-tun")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		wantSaid(t, string(out), err, "no permission to open "+tunPath, "run as root")
	})
}

func wantSaid(t *testing.T, out string, err error, want ...string) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("want a refusal, got %v", err)
	}
	for _, w := range want {
		if !strings.Contains(out, w) {
			t.Errorf("want %q in %q", w, out)
		}
	}
	t.Log(strings.TrimSpace(out))
}

func TestExplanations(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{explainTUN(unix.ENOENT), "--device"},
		{explainTUN(unix.ENODEV), "modprobe tun"},
		{explainTUN(unix.EACCES), "run as root"},
		{explainTUN(unix.EPERM), "--device"},
		{explainTUN(unix.EMFILE), "open /dev/net/tun: too many open files"},
		{explainNamespace(unix.ENOSPC), "user.max_"},
		{explainNamespace(unix.EINVAL), "CONFIG_NET_NS"},
		{explainNamespace(unix.EPERM), "run as root"},
		{explainNamespace(unix.ENOMEM), "make namespaces: cannot allocate memory"},
	} {
		if s := c.err.Error(); !strings.Contains(s, c.want) || strings.Contains(s, "\n") {
			t.Errorf("want %q in %q", c.want, s)
		}
	}
}

func TestCheckLeavesNothing(t *testing.T) {
	requireKernel(t)
	before := descriptors(t)
	for range 3 {
		if err := Check(); err != nil {
			t.Fatal(err)
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	self, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	var other []string
	for range 500 {
		other = nil
		threads, _ := filepath.Glob("/proc/self/task/*/ns/net")
		for _, p := range threads {
			if ns, err := os.Readlink(p); err == nil && ns != self {
				other = append(other, p)
			}
		}
		if len(other) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("threads in other namespaces: %v", other)
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
