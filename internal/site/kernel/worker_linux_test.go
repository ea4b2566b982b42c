package kernel

import (
	"bufio"
	"context"
	"encoding/json"
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

// These tests play a samewire that starts a worker, which opens the site:
// test → samewire → worker → programs in two hosts.

// household tells the test who lives where.
type household struct {
	Samewire, Worker int    // processes, as the test sees them
	User             int    // who samewire is
	Client, Server   uint64 // network namespaces
	Inside           string // the worker's PID namespace
}

// playSamewire checks the machine and starts a worker, as anybody may.
func playSamewire([]string) error {
	if err := Check(); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	runtime.LockOSThread() // the worker dies with this thread
	cmd := role(exec.Command(self), "worker")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = WorkerAttr()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var h household
	if err := json.NewDecoder(out).Decode(&h); err != nil {
		return errors.Join(fmt.Errorf("read from worker: %w", err), cmd.Wait())
	}
	h.Samewire, h.Worker, h.User = os.Getpid(), cmd.Process.Pid, os.Getuid()
	if err := json.NewEncoder(os.Stdout).Encode(h); err != nil {
		return err
	}
	_ = cmd.Wait()
	select {} // and is killed
}

// playWorker opens the site with programs that do not end by themselves, one
// with a child that has left its group, and stays.
func playWorker([]string) error {
	if os.Getuid() != 0 || os.Getpid() != 1 {
		return fmt.Errorf("the worker is user %d, process %d", os.Getuid(), os.Getpid())
	}
	if err := Check(); err != nil {
		return fmt.Errorf("check in worker: %w", err)
	}
	var got pings
	hosts, err := (&Site{
		Server: &part{name: "echo"}, Client: &part{name: "ping", args: words("3"), answer: &got}, Spin: true,
	}).Open(context.Background(), runOn(5*time.Millisecond, 0))
	if err != nil {
		return err
	}
	if err := hosts.Serve(context.Background()); err != nil {
		return err
	}
	if _, err := hosts.Get(context.Background()); err != nil {
		return err
	}
	if got.Min < 10*time.Millisecond {
		return fmt.Errorf("round trip %v over a path of 10ms", got.Min)
	}
	if f := hosts.Facts(); f.Client.CPU == nil || f.Server.CPU == nil {
		return errors.New("CPU time is not known")
	}
	daemon := hosts.server.Command(context.Background(), "sh", "-c", "setsid sleep 1000 & sleep 1001")
	if err := daemon.Start(); err != nil {
		return err
	}
	// /proc is that of an outer PID namespace here.
	for len(processesIn(hosts.server.inode)) < 4 {
		time.Sleep(time.Millisecond) // the shell is about to start its children
	}
	inside, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	err = json.NewEncoder(os.Stdout).Encode(household{
		Client: hosts.client.inode, Server: hosts.server.inode, Inside: inside,
	})
	if err != nil {
		return err
	}
	// A pipe that the collector closes would end the programs.
	defer runtime.KeepAlive(hosts)
	select {}
}

// playReadOnly opens the site where /proc/sys is read-only, as container
// engines have it.
func playReadOnly([]string) error {
	for _, err := range []error{
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("/proc/sys", "/proc/sys", "", unix.MS_BIND, ""),
		unix.Mount("", "/proc/sys", "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""),
	} {
		if err != nil {
			return fmt.Errorf("make /proc/sys read-only: %w", err)
		}
	}
	const setting = "/proc/sys/net/ipv4/tcp_no_metrics_save"
	if err := os.WriteFile(setting, []byte("1"), 0); !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("/proc/sys is not read-only: %w", err)
	}
	hosts, err := new(Site).Open(context.Background(), runOn(0, 0))
	if err != nil {
		return err
	}
	out, err := hosts.client.Command(context.Background(), "cat", setting).Output()
	if err != nil || string(out) != "1\n" {
		return fmt.Errorf("the setting is %q (%w)", out, err)
	}
	return hosts.Close()
}

// playCycle opens and closes the site many times where only a few network
// namespaces may exist at once.
func playCycle([]string) error {
	if err := os.WriteFile("/proc/sys/user/max_net_namespaces", []byte("4"), 0); err != nil {
		return err
	}
	for range 10 {
		if err := openPatiently(); err != nil {
			return err
		}
	}
	return nil
}

// openPatiently opens and closes the site. The kernel takes its time to free a
// namespace that nobody holds any more.
func openPatiently() error {
	var err error
	for range 500 {
		var hosts *Hosts
		hosts, err = new(Site).Open(context.Background(), runOn(0, 0))
		if err == nil {
			return hosts.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// startHousehold starts samewire and its worker, as root or as a user.
func startHousehold(t *testing.T, args ...string) household {
	t.Helper()
	requireKernel(t)
	cmd := role(exec.Command(self, args[1:]...), args[0])
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		reapOrphans()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v did not start: %v", args, err)
	}
	var h household
	if err := json.Unmarshal([]byte(line), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestKillLeavesNothing(t *testing.T) {
	requireKernel(t)
	type who struct {
		name string
		args []string
		user int
	}
	all := []who{{"root", []string{"samewire"}, 0}}
	if realRoot() {
		all = append(all, who{"ordinary user", []string{"private-tun", "samewire"}, 65534})
	}
	for _, w := range all {
		for _, victim := range []string{"worker", "samewire"} {
			t.Run(w.name+"/"+victim, func(t *testing.T) {
				h := startHousehold(t, w.args...)
				if h.User != w.user {
					t.Errorf("samewire is user %d, want %d", h.User, w.user)
				}
				for _, inode := range []uint64{h.Client, h.Server} {
					if len(processesIn(inode)) == 0 || len(holders(t, inode)) == 0 {
						t.Fatal("a host without processes, or a test that cannot see them")
					}
				}
				// The worker, echo, ping, spinner, and a shell with two children.
				if n := len(insiders(t, h.Inside)); n < 7 {
					t.Fatalf("%d processes in the worker's PID namespace, want 7", n)
				}
				pid := map[string]int{"worker": h.Worker, "samewire": h.Samewire}[victim]
				if pid <= 1 {
					t.Fatalf("%s is process %d", victim, pid)
				}
				if err := unix.Kill(pid, unix.SIGKILL); err != nil {
					t.Fatal(err)
				}
				awaitGone(t, h)
			})
		}
	}
}

// awaitGone fails the test if anything of the household is still there after
// some seconds.
func awaitGone(t *testing.T, h household) {
	t.Helper()
	var left []string
	for range 500 {
		left = append(holders(t, h.Client), holders(t, h.Server)...)
		left = append(left, insiders(t, h.Inside)...)
		if len(left) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left behind: %v", left)
}

// insiders lists the processes in a PID namespace that are more than zombies.
func insiders(t *testing.T, ns string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range paths {
		if to, _ := os.Readlink(p); to != ns {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "../stat"))
		if _, state, ok := strings.Cut(string(stat), ") "); ok && !strings.HasPrefix(state, "Z") {
			all = append(all, p)
		}
	}
	return all
}

// holders lists what keeps a network namespace: threads in it, and descriptors
// of it.
func holders(t *testing.T, inode uint64) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/proc/[0-9]*/task/[0-9]*/ns/net", "/proc/[0-9]*/fd/[0-9]*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if to, _ := os.Readlink(p); to == fmt.Sprintf("net:[%d]", inode) {
				all = append(all, p)
			}
		}
	}
	return all
}

func TestCloseFreesNamespaces(t *testing.T) {
	requireKernel(t)
	out, err := inUserNamespace("cycle")
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReadOnlySysctls(t *testing.T) {
	requireKernel(t)
	if out, err := inUserNamespace("read-only"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
