package kernel

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tunPath is the device through which TUN devices are made.
const tunPath = "/dev/net/tun"

// device is one TUN device. Its reads and writes each move one IP packet and
// never block.
type device struct{ fd int }

// openDevice makes a TUN device in the network namespace of the calling
// thread. It goes when the device is closed.
func openDevice(name string) (device, error) {
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return device{}, explainTUN(err)
	}
	request, err := unix.NewIfreq(name)
	if err != nil {
		return device{}, fmt.Errorf("name device %q: %w", name, err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		_ = unix.Close(fd)
		return device{}, fmt.Errorf("make TUN device %q: %w", name, err)
	}
	return device{fd}, nil
}

// read reads one packet; the error is EAGAIN when none waits. The call does not
// tell the Go scheduler: it is short, and to lose the processor over it would
// make packets late.
func (d device) read(b []byte) (int, unix.Errno) {
	for {
		n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if errno != unix.EINTR {
			return int(n), errno
		}
	}
}

// write hands one packet to the kernel, which has then received it.
func (d device) write(b []byte) unix.Errno {
	for {
		_, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(d.fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		if errno != unix.EINTR {
			return errno
		}
	}
}

func (d device) close() error { return unix.Close(d.fd) }
