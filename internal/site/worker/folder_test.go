package worker

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// ownFolder is what the test binary does in the role "owner": it makes a folder with a
// secret in it, tells its path, and waits to be killed.
func ownFolder() {
	f, err := NewFolder("worker")
	if err == nil {
		err = os.MkdirAll(filepath.Join(f.Path, "samewire-run-1", "client"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Path, "samewire-run-1", "client.keys"), []byte("secret"), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(f.Path)
	time.Sleep(time.Minute)
}

// owner starts a process with a folder of its own.
func owner(t *testing.T) (path string, kill func()) {
	t.Helper()
	c := command(t, "owner")
	cmd := exec.Command(c.Path)
	cmd.Env = append(os.Environ(), c.Env...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A folder of secrets outlives neither its owner nor, where that was killed, the
// start of the next pool; one whose owner lives stays.
func TestWhatAKilledOwnerLeftIsSwept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead, kill := owner(t)
	alive, _ := owner(t)
	pool(t, "work", 1)
	if !there(filepath.Join(dead, "samewire-run-1", "client.keys")) || !there(alive) {
		t.Fatal("folders in use were swept")
	}
	kill()
	p := pool(t, "work", 1)
	if there(dead) || !there(filepath.Join(alive, "samewire-run-1", "client.keys")) {
		t.Errorf("after its owner's death a folder is there: %v; the other: %v", there(dead), there(alive))
	}
	if r := p.Carry(t.Context(), lab.Run{ID: "fine"}); r.Outcome != lab.OK {
		t.Error(r.Reason)
	}
	Sweep()
	if r := p.Carry(t.Context(), lab.Run{ID: "fine"}); r.Outcome != lab.OK {
		t.Errorf("after a sweep: %s", r.Reason)
	}
}

func TestASweepLeavesWhatIsNotItsOwn(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	outside := t.TempDir()
	make := func(dir string) string {
		err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, ownerName), nil, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	goes := make(filepath.Join(temp, "samewire-worker-1"))
	link, noOwner := filepath.Join(temp, "samewire-worker-2"), filepath.Join(temp, "samewire-worker-3")
	linked := filepath.Join(temp, "samewire-worker-4") // its owner's file is a link
	stays := []string{
		make(filepath.Join(outside, "samewire-worker-5")), make(filepath.Join(temp, "other-worker-6")), link, noOwner, linked,
		filepath.Join(outside, "samewire-worker-5", ownerName),
	}
	err := errors.Join(os.Symlink(stays[0], link), os.Mkdir(noOwner, 0o700), os.Mkdir(linked, 0o700),
		os.Symlink(stays[5], filepath.Join(linked, ownerName)), os.Symlink(outside, filepath.Join(goes, "out")))
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		another := make(filepath.Join(temp, "samewire-worker-7"))
		if err := os.Chown(another, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, another)
	}
	Sweep()
	if there(goes) {
		t.Error("a folder that nobody holds is still there")
	}
	for _, path := range stays {
		if !there(path) {
			t.Errorf("%s was removed", path)
		}
	}
}

// Owners that come and go while others sweep keep what they have.
func TestSweepsMeetNewFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stop := make(chan struct{})
	var sweepers sync.WaitGroup
	for range 3 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					Sweep()
				}
			}
		})
	}
	for range 200 {
		f, err := NewFolder("worker")
		if err == nil {
			err = os.WriteFile(filepath.Join(f.Path, "x"), nil, 0o600)
		}
		if err == nil {
			_, err = os.Stat(filepath.Join(f.Path, "x"))
		}
		if err == nil {
			err = f.Remove()
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	sweepers.Wait()
}
