package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// Check says whether this process can have kernel runs carried out: nil, or one
// sentence that says what is missing and how to get it. It really tries, and
// leaves nothing behind. Root makes two hosts and closes them. For an ordinary
// user, who needs a worker for that, it makes the worker's namespaces and opens
// the device; in the worker, Check goes all the way.
func Check() error {
	if err := tryDevice(); err != nil {
		return err
	}
	if err := tryWorker(); err != nil {
		return err
	}
	if !privileged() {
		return nil
	}
	return tryHosts()
}

func tryDevice() error {
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return explainTUN(err)
	}
	return unix.Close(fd)
}

// tryWorker makes the namespaces of a worker, and in it a network namespace, in
// a process that never gets to run a program.
func tryWorker() error {
	attr := WorkerAttr()
	attr.Pdeathsig = 0
	attr.Unshareflags = unix.CLONE_NEWNET
	cmd := &exec.Cmd{Path: "/proc/self/exe/none", SysProcAttr: attr}
	err := cmd.Start()
	switch {
	case err == nil: // a file cannot be a folder
		return errors.Join(errors.New("the trial of namespaces ran a program"), cmd.Process.Kill(), cmd.Wait())
	case errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENOENT):
		return nil
	}
	return explainNamespace(errnoOf(err))
}

func tryHosts() error {
	client, server := networks(lab.Run{})
	a, err := newHost(client, true)
	if err != nil {
		return err
	}
	b, err := newHost(server, true)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	return closeHosts(a, b)
}

// explainTUN says what it takes to open the TUN device.
func explainTUN(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("%s is missing (%w): on a host, run modprobe tun; "+
			"in a container, start it with --device %s", tunPath, err, tunPath)
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		return fmt.Errorf("the kernel has no TUN driver for %s (%w): run modprobe tun on the host", tunPath, err)
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("no permission to open %s (%w): run as root, or have root run chmod 666 %s", tunPath, err, tunPath)
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("the container may not use %s (%w): start it with --device %s", tunPath, err, tunPath)
	}
	return fmt.Errorf("open %s: %w", tunPath, err)
}

// explainNamespace says what it takes to make namespaces.
func explainNamespace(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EUSERS):
		return fmt.Errorf("the limit on namespaces is reached (%w): have root run sysctl -w %s", err, spentLimits())
	case errors.Is(err, unix.EINVAL):
		return fmt.Errorf("this kernel was built without the namespaces that it takes (%w): "+
			"use one with CONFIG_NET_NS, CONFIG_PID_NS and CONFIG_USER_NS", err)
	case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES):
		return fmt.Errorf("make namespaces: %w", err)
	case sysctl("kernel/unprivileged_userns_clone") == "0":
		return fmt.Errorf("ordinary users may not make namespaces here (%w): "+
			"run as root, or have root run sysctl -w kernel.unprivileged_userns_clone=1", err)
	case sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return fmt.Errorf("AppArmor keeps ordinary users from using namespaces here (%w): "+
			"run as root, or have root run sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", err)
	}
	return fmt.Errorf("namespaces are forbidden here (%w): run as root; "+
		"in a container, start it with --cap-add SYS_ADMIN --cap-add NET_ADMIN", err)
}

// spentLimits is how to raise the limits that are zero, or else all that may be
// meant.
func spentLimits() string {
	var zero, all []string
	for _, kind := range []string{"user", "pid", "net"} {
		raised := "user.max_" + kind + "_namespaces=10000"
		all = append(all, raised)
		if sysctl("user/max_"+kind+"_namespaces") == "0" {
			zero = append(zero, raised)
		}
	}
	if len(zero) == 0 {
		zero = all
	}
	return strings.Join(zero, " ")
}

// sysctl returns a setting of the machine, or nothing if there is none.
func sysctl(path string) string {
	b, err := os.ReadFile("/proc/sys/" + path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// errnoOf is the system's error in err, without the words about a program that
// was never meant to run.
func errnoOf(err error) error {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
