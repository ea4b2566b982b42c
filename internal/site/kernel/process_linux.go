package kernel

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// childAttr makes a process die with the thread that forked it, and lead a
// process group, so that it can be ended with its children.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func killGroup(pid int, s syscall.Signal) error {
	if pid <= 0 {
		return nil
	}
	return unix.Kill(-pid, s)
}

// processesIn returns the processes, other than this one, in the network
// namespace with the given inode number, by the numbers by which this process
// knows them. Those it may not look at are none of its own.
func processesIn(inode uint64) []int {
	var pids []int
	for pid := range entriesIn(inode) {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// entriesIn is processesIn, with the name of each process's folder in /proc,
// which may be that of an outer PID namespace.
func entriesIn(inode uint64) map[int]string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	want := "net:[" + strconv.FormatUint(inode, 10) + "]"
	depth := len(namespacePIDs("self"))
	found := map[int]string{}
	for _, e := range entries {
		if e.Name()[0] < '0' || e.Name()[0] > '9' {
			continue
		}
		if ns, err := os.Readlink("/proc/" + e.Name() + "/ns/net"); err != nil || ns != want {
			continue
		}
		// The process's number in our PID namespace stands as deep in its list
		// as our own number in our list.
		all := namespacePIDs(e.Name())
		if depth == 0 || len(all) < depth || all[depth-1] == os.Getpid() {
			continue
		}
		found[all[depth-1]] = e.Name()
	}
	return found
}

// namespacePIDs returns the numbers of a process of /proc in each PID
// namespace, from that of /proc inwards.
func namespacePIDs(entry string) []int {
	status, err := os.ReadFile("/proc/" + entry + "/status")
	if err != nil {
		return nil
	}
	_, rest, ok := strings.Cut(string(status), "\nNSpid:")
	if !ok {
		return nil
	}
	line, _, _ := strings.Cut(rest, "\n")
	var pids []int
	for _, f := range strings.Fields(line) {
		pid, err := strconv.Atoi(f)
		if err != nil {
			return nil
		}
		pids = append(pids, pid)
	}
	return pids
}

// processCPU is the processor time that a process has used, all its threads
// together, without its children's. It can be read until the process has been
// waited for.
func processCPU(pid int) (time.Duration, error) {
	// The number of a process's clock (clock_getcpuclockid(3)): the process's,
	// negated, and CPUCLOCK_SCHED.
	const sched = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &ts); err != nil {
		return 0, fmt.Errorf("read CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(ts.Nano()), nil
}

// threadWaits is how long each thread of the process with this folder in /proc
// has been ready to run and waited for a core (run_delay of sched_info, in ns:
// the second figure of schedstat). Threads that have ended are not there any
// more. It is nil where the kernel does not count it.
func threadWaits(entry string) map[int]time.Duration {
	threads, err := os.ReadDir("/proc/" + entry + "/task")
	if err != nil {
		return nil
	}
	waits := map[int]time.Duration{}
	for _, t := range threads {
		b, err := os.ReadFile("/proc/" + entry + "/task/" + t.Name() + "/schedstat")
		if err != nil {
			continue // it has just ended
		}
		id, wait, ok := parseWait(t.Name(), string(b))
		if !ok {
			return nil
		}
		waits[id] = wait
	}
	return waits
}

// parseWait reads the schedstat of a thread.
func parseWait(thread, schedstat string) (id int, wait time.Duration, ok bool) {
	fields := strings.Fields(schedstat)
	if len(fields) < 2 {
		return 0, 0, false
	}
	id, err := strconv.Atoi(thread)
	if err != nil {
		return 0, 0, false
	}
	ns, err := strconv.ParseInt(fields[1], 10, 64)
	return id, time.Duration(ns), err == nil
}

// CPU is the processor time that the process has used so far, without its
// children's.
func (c *Cmd) CPU() (time.Duration, error) { return processCPU(c.PID()) }

// reapOrphans waits for processes that ended after their parents had: where
// this process is the first of its PID namespace they are its to reap. Those
// that this package has started are left to their Wait.
func reapOrphans() {
	if os.Getpid() != 1 {
		return
	}
	children.mu.Lock()
	defer children.mu.Unlock()
	for {
		pid := endedChild()
		if pid == 0 || children.pids[pid] {
			return
		}
		if _, err := unix.Wait4(pid, nil, unix.WNOHANG, nil); err != nil {
			return
		}
	}
}

// endedChild returns a child that has ended and waits to be reaped, or 0. The
// child is left as it is.
func endedChild() int {
	// siginfo_t for SIGCHLD: three ints, then si_pid in a union that is aligned
	// as a pointer is.
	var info struct {
		_    [3]int32
		data struct {
			_   [0]uintptr
			pid int32
		}
		_ [128]byte
	}
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&info)),
		unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(info.data.pid)
}
