package kernel

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Host is one of the two hosts of a run: a network namespace with one device,
// and the processes in it.
type Host struct {
	network network
	thread  *thread // in the namespace; all processes are forked from it
	ns      *os.File
	inode   uint64                  // the namespace's number, its own as long as ns is open
	offload bool                    // as much as the kernel knows
	environ func([]string) []string // changes the environment of all processes; nil: as it is
	device  device
	netlink *netlink.Handle

	mu     sync.Mutex
	cmds   []*Cmd // all that were started
	closed bool
}

// newHost makes a host. On an error nothing of it is left.
func newHost(n network, offload bool) (*Host, error) {
	return newHostWith(n, offload, (*Host).build)
}

// newHostWith makes a host of what build makes, on the host's thread.
func newHostWith(n network, offload bool, build func(*Host) error) (*Host, error) {
	h := &Host{network: n, thread: newThread(), device: device{fd: -1}, offload: offload}
	if err := h.thread.do(func() error { return build(h) }); err != nil {
		return nil, errors.Join(fmt.Errorf("make host %s: %w", n.addr, err), h.Close())
	}
	return h, nil
}

// build makes the host's namespace and all in it.
func (h *Host) build() (err error) {
	if err := h.enter(); err != nil {
		return err
	}
	if h.device, err = openDevice(deviceName, h.offload); err != nil {
		return err
	}
	return h.network.setUp(h.netlink)
}

// enter makes the host's namespace, which has no device yet.
func (h *Host) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return explainNamespace(err)
	}
	ns, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return fmt.Errorf("open network namespace: %w", err)
	}
	h.ns = ns
	var st unix.Stat_t
	if err := unix.Fstat(int(ns.Fd()), &st); err != nil {
		return fmt.Errorf("name network namespace: %w", err)
	}
	h.inode = st.Ino
	if h.netlink, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	return nil
}

// Addr is the host's address.
func (h *Host) Addr() netip.Addr { return h.network.addr }

// Offload names what the host's kernel leaves to its device: csum, tso4, tso6,
// tso-ecn, uso4, uso6. Empty means that each packet is whole.
func (h *Host) Offload() []string { return offloadWords(h.device.offload) }

// Do carries out f on the host's thread: sockets that f makes are the host's.
// The host starts no process meanwhile, so f should be short. It must not use
// goroutines, which run elsewhere.
func (h *Host) Do(f func() error) error { return h.thread.do(f) }

// Command returns a process of the host, to be started: it will be in the
// host's network namespace, and it ends when ctx does, when the host is closed
// or when this process dies.
func (h *Host) Command(ctx context.Context, name string, args ...string) *Cmd {
	return newCmd(exec.CommandContext(ctx, name, args...), h.start)
}

func (h *Host) start(c *Cmd) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errClosed
	}
	if h.environ != nil {
		c.Env = h.environ(c.Environ())
	}
	if err := h.thread.do(c.Cmd.Start); err != nil {
		return err
	}
	h.cmds = append(h.cmds, c)
	return nil
}

// Close ends every process of the host, and the host. It returns when nothing
// of them is left.
func (h *Host) Close() error {
	var errs []error
	if h.ns != nil {
		errs = append(errs, h.endProcesses())
	}
	if h.netlink != nil {
		h.netlink.Close()
	}
	h.thread.close()
	if h.device.fd >= 0 {
		errs = append(errs, h.device.close())
	}
	if h.ns != nil {
		errs = append(errs, h.ns.Close())
	}
	return errors.Join(errs...)
}

// endProcesses kills what runs in the host's namespace until nothing does, and
// waits for the commands that nobody has waited for.
func (h *Host) endProcesses() error {
	h.mu.Lock()
	h.closed = true
	cmds := h.cmds
	h.mu.Unlock()
	for _, c := range cmds {
		_ = c.signal(unix.SIGKILL)
	}
	const patience = 5 * time.Second
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		pids := processesIn(h.inode)
		if len(pids) == 0 {
			break
		}
		if time.Since(start) > patience {
			return fmt.Errorf("end processes of host %s: %v are still there", h.network.addr, pids)
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	for _, c := range cmds {
		_ = c.Wait()
	}
	return nil
}

// lost counts the packets that the device lost: sent by the host but never
// read by us, and written by us but not received.
func (h *Host) lost() (sent, received int, err error) {
	wire, err := h.netlink.LinkByName(deviceName)
	if err != nil {
		return 0, 0, fmt.Errorf("read device's counters: %w", err)
	}
	queues, err := h.netlink.QdiscList(wire)
	if err != nil {
		return 0, 0, fmt.Errorf("read queue's counters: %w", err)
	}
	for _, q := range queues {
		if s := q.Attrs().Statistics; s != nil && s.Queue != nil {
			sent += int(s.Queue.Drops)
		}
	}
	if s := wire.Attrs().Statistics; s != nil {
		sent += int(s.TxDropped)
		received = int(s.RxDropped)
	}
	return sent, received, nil
}
