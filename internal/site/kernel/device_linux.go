package kernel

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tunPath is the device through which TUN devices are made.
const tunPath = "/dev/net/tun"

// device is one TUN device. Its reads and writes each move one IP packet or
// super-packet, with a header before it (vnet), and never block.
type device struct {
	fd int
	// offload has what the host's kernel leaves to the device: TUN_F_ flags.
	offload uint32
}

// offloads are what devices are asked to take over, the most first: checksums,
// cutting TCP (with ECN's flag right), and cutting UDP, which came with Linux 6.2.
var offloads = [...]uint32{
	tcpOffload | unix.TUN_F_USO4 | unix.TUN_F_USO6,
	tcpOffload,
	unix.TUN_F_CSUM,
	0,
}

const tcpOffload = unix.TUN_F_CSUM | unix.TUN_F_TSO4 | unix.TUN_F_TSO6 | unix.TUN_F_TSO_ECN

// openDevice makes a TUN device in the network namespace of the calling
// thread, with all the offload that the kernel knows or none. It goes when the
// device is closed.
func openDevice(name string, offload bool) (device, error) {
	fd, err := unix.Open(tunPath, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return device{}, explainTUN(err)
	}
	request, err := unix.NewIfreq(name)
	if err != nil {
		return device{}, fmt.Errorf("name device %q: %w", name, err)
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI | unix.IFF_VNET_HDR)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, request); err != nil {
		_ = unix.Close(fd)
		return device{}, fmt.Errorf("make TUN device %q: %w", name, err)
	}
	d := device{fd: fd}
	if offload {
		d.offload = switchOn(fd)
	}
	return d, nil
}

// switchOn switches on as much offload as the kernel knows.
func switchOn(fd int) uint32 {
	for _, flags := range offloads {
		if unix.IoctlSetInt(fd, unix.TUNSETOFFLOAD, int(flags)) == nil {
			return flags
		}
	}
	return 0
}

// offloadWords names offload as ethtool and the kernel do.
func offloadWords(flags uint32) []string {
	words := []string{}
	for _, f := range []struct {
		flag uint32
		word string
	}{
		{unix.TUN_F_CSUM, "csum"},
		{unix.TUN_F_TSO4, "tso4"}, {unix.TUN_F_TSO6, "tso6"}, {unix.TUN_F_TSO_ECN, "tso-ecn"},
		{unix.TUN_F_USO4, "uso4"}, {unix.TUN_F_USO6, "uso6"},
	} {
		if flags&f.flag != 0 {
			words = append(words, f.word)
		}
	}
	return words
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
