package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Check is the function Check for one backend.
func (b Backend) Check() error {
	if b != Netem {
		return Check()
	}
	if _, err := findTC(); err != nil {
		return err
	}
	if !privileged() {
		return errors.New("the kernel's netem (backend netem) needs a right on the whole machine: run as root")
	}
	return errors.Join(tryWorker(), tryNetem())
}

// findTC finds tc, also where only root's PATH would lead.
func findTC() (string, error) {
	for _, name := range []string{"tc", "/usr/sbin/tc", "/sbin/tc"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("tc is missing, which sets up the kernel's netem: install iproute2")
}

// tryNetem does to the loopback device of a namespace that nobody is in what the
// hosts' devices need.
func tryNetem() error {
	t := newThread()
	defer t.close()
	return t.do(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return explainNamespace(err)
		}
		handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
		if err != nil {
			return fmt.Errorf("open netlink: %w", err)
		}
		defer handle.Close()
		lo, err := handle.LinkByName("lo")
		if err != nil {
			return fmt.Errorf("find loopback: %w", err)
		}
		err = handle.QdiscAdd(netlink.NewNetem(netlink.QdiscAttrs{
			LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT,
		}, netlink.NetemQdiscAttrs{}))
		if err != nil {
			return explainNetem(err)
		}
		return receiveOnOne("lo")
	})
}

// explainNetem says what it takes to have netem.
func explainNetem(err error) error {
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("this kernel has no netem (%w): run modprobe sch_netem on the host, "+
			"or boot a kernel built with CONFIG_NET_SCH_NETEM (netem/guest.sh does, in an emulator)", err)
	}
	return fmt.Errorf("add netem to a device: %w", err)
}
