package kernel

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// steer has all that arrives at the host's device received on one processor, as
// a network card with one queue does. By itself a veth device passes a packet on
// where the sender's queueing discipline happened to run: in a timer's processor
// and in a sending program's by turns, and packets overtake each other on the way
// from the two. (On two emulated processors one in five did.)
func (h *Host) steer() error {
	t := newThread() // and not the host's: its programs keep their mounts
	defer t.close()
	return t.do(func() error {
		if err := unix.Setns(int(h.ns.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return receiveOnOne(deviceName)
	})
}

// receiveOnOne is steer for a device in the network namespace of the calling
// thread, whose mounts it changes for good.
func receiveOnOne(device string) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return fmt.Errorf("find a processor: %w", err)
	}
	err := mountSys()
	if err == nil {
		err = os.WriteFile("/sys/class/net/"+device+"/queues/rx-0/rps_cpus", []byte(processorMask(firstOf(set))), 0)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrNotExist) && set.Count() == 1:
		return nil // a kernel for one processor has no such setting
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("packets must be received on one processor to keep their order, which takes a right "+
			"on the whole machine that this process does not have (%w): run as root, outside any user namespace", err)
	}
	return fmt.Errorf("have packets received on one processor, so that they keep their order: %w", err)
}

// mountSys gives the calling thread a mount namespace of its own with a fresh
// /sys, which shows the devices of its network namespace.
func mountSys() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func firstOf(set unix.CPUSet) int {
	for cpu := 0; ; cpu++ {
		if set.IsSet(cpu) {
			return cpu
		}
	}
}

// processorMask is a mask with one processor, as the kernel's files take it:
// words of 32 bits in hexadecimal digits, the highest first.
func processorMask(cpu int) string {
	return fmt.Sprintf("%x", uint32(1)<<(cpu%32)) + strings.Repeat(",00000000", cpu/32)
}
