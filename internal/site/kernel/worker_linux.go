package kernel

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// WorkerAttr returns how to start a process that carries out kernel runs: as
// the first of a PID namespace, so that nothing outlives it, and, for those who
// are not root or whose root lacks the rights, as root of a user namespace.
// The process dies with the thread that starts it, which must therefore live
// as long: use a thread that is locked, or a goroutine that never unlocks.
//
// The worker needs no reaper: it may leave orphans to Hosts.Close, as long as
// all the processes that it starts are hosts' Commands.
func WorkerAttr() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	if !privileged() {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
		attr.GidMappingsEnableSetgroups = false
	}
	return attr
}

// privileged says whether this process may make network namespaces and set
// them up without a user namespace of its own.
func privileged() bool {
	if os.Geteuid() != 0 {
		return false
	}
	const need = 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_NET_ADMIN
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // the version's two halves
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return false
	}
	return sets[0].Effective&need == need
}
