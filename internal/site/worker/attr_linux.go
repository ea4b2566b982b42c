package worker

import "syscall"

// ownGroup starts a worker in a process group of its own, so that Ctrl-C does
// not reach it, and makes it die with samewire.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
