package kernel

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// switches are what a device may do besides moving packets, in the order in
// which they are switched off. All of them hand the queueing discipline more than
// a packet of the wire: TCP's segmentation by itself (see plan.Netem for what else
// it takes), and the UDP segmentation that a program asks for (udp(7),
// UDP_SEGMENT) wherever the device makes checksums. Without checksums Linux before
// 6.11 refuses the latter, and programs then send packet by packet.
var switches = []struct {
	what    string
	command uint32
}{
	{"tcp-segmentation-offload", unix.ETHTOOL_STSO},
	{"generic-segmentation-offload", unix.ETHTOOL_SGSO},
	{"generic-receive-offload", unix.ETHTOOL_SGRO},
	{"tx-checksumming", unix.ETHTOOL_STXCSUM},
}

// ethtoolRequest is the struct ifreq of SIOCETHTOOL (netdevice(7)): a device and
// where the command lies.
type ethtoolRequest struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// ethtoolValue is the struct of the same name in linux/ethtool.h.
type ethtoolValue struct{ command, data uint32 }

// offloadOff switches a device's offload off, as ethtool -K does. The device is
// in the namespace of the calling thread.
func offloadOff(device string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket for device's settings: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	for _, s := range switches {
		value := ethtoolValue{command: s.command}
		if err := ethtool(fd, device, &value); err != nil {
			return fmt.Errorf("switch off %s of device %s: %w", s.what, device, err)
		}
	}
	return nil
}

// ethtool carries out one command. What it answers is in value.
func ethtool(fd int, device string, value *ethtoolValue) error {
	r := ethtoolRequest{data: unsafe.Pointer(value)}
	copy(r.name[:unix.IFNAMSIZ-1], device)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r)))
	if errno != 0 {
		return errno
	}
	return nil
}
