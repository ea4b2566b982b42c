//go:build !linux

package worker

import "syscall"

// ownGroup starts a worker in a process group of its own, so that Ctrl-C does
// not reach it. Where there is no parent-death signal a worker ends when its
// standard input does.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
