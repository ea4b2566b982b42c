package kernel

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// deviceName is the name of a host's device, as programs on it see it.
const deviceName = "wire"

// queueLength is how many packets the kernel may hold for us to read. TUN lets
// go of a packet's socket when it takes it, so that a sender is held back by
// its window alone; the queue must hold a whole one.
const queueLength = 10000

// network is how a host's network is set up.
type network struct {
	addr, peer netip.Addr
	aliases    netip.Prefix // other addresses of the peer, as this host sees them
	mtu        int
	cc         string // TCP's congestion control; empty: the kernel's default
	initCwnd   int    // TCP's initial window in segments; 0: the kernel's default
	shaped     bool   // the device's queueing discipline is set up elsewhere
}

// networks returns the networks of a run's two hosts.
func networks(run lab.Run) (client, server network) {
	path, stack := run.Cell.Path, run.Cell.Stack
	c, s := path.Family.Hosts()
	client = network{addr: c, peer: s, mtu: path.Up.DeviceMTU()}
	server = network{addr: s, peer: c, mtu: path.Down.DeviceMTU(), aliases: path.Family.Aliases()}
	for _, n := range []*network{&client, &server} {
		n.cc, n.initCwnd = stack.CC, stack.InitCwnd
	}
	return client, server
}

// family returns netlink's number for the address family, and the length of a
// host's prefix.
func (n network) family() (family, bits int) {
	if n.addr.Is6() {
		return unix.AF_INET6, 128
	}
	return unix.AF_INET, 32
}

// setUp sets up the network namespace of the calling thread, whose device
// exists, through handle. The device stays silent until a program speaks: it
// has no link-local address, makes none, and takes no part in multicast.
func (n network) setUp(handle *netlink.Handle) error {
	if err := setSysctls(); err != nil {
		return err
	}
	lo, err := handle.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find loopback: %w", err)
	}
	wire, err := handle.LinkByName(deviceName)
	if err != nil {
		return fmt.Errorf("find device: %w", err)
	}
	steps := []struct {
		what string
		do   func() error
	}{
		{"bring loopback up", func() error { return handle.LinkSetUp(lo) }},
		{"set MTU", func() error { return handle.LinkSetMTU(wire, n.mtu) }},
		{"set queue length", func() error { return handle.LinkSetTxQLen(wire, queueLength) }},
		{"switch multicast off", func() error { return handle.LinkSetMulticastOff(wire) }},
		{"switch link-local addresses off", func() error { return linkLocalOff(handle, wire) }},
		{"set queueing discipline", func() error { return n.plainQueue(handle, wire) }},
		{"bring device up", func() error { return handle.LinkSetUp(wire) }},
		{"add address", func() error { return n.addAddress(handle, wire) }},
		{"add routes", func() error { return n.addRoutes(handle, wire) }},
		{"read routes back", func() error { return n.checkRoutes(handle, wire) }},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			return fmt.Errorf("%s: %w", s.what, err)
		}
	}
	return nil
}

// linkLocalOff keeps IPv6 from giving the device an address of its own, and so
// from asking for routers and neighbours. A kernel without IPv6 does not know
// the setting, and does not need it.
func linkLocalOff(handle *netlink.Handle, wire netlink.Link) error {
	const none = 1 // IN6_ADDR_GEN_MODE_NONE
	err := handle.LinkSetIP6AddrGenMode(wire, none)
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// plainQueue gives the device a first-in first-out queue as long as its own,
// whatever the machine's default: no fair queueing, no active queue management,
// no pacing below the socket. A kernel built without traffic control has one.
func (n network) plainQueue(handle *netlink.Handle, wire netlink.Link) error {
	if n.shaped {
		return nil
	}
	err := handle.QdiscReplace(&netlink.GenericQdisc{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: wire.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		QdiscType:  "pfifo",
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

func (n network) addAddress(handle *netlink.Handle, wire netlink.Link) error {
	_, bits := n.family()
	addr := &netlink.Addr{IPNet: prefix(n.addr, bits)}
	if n.addr.Is6() {
		addr.Flags = unix.IFA_F_NODAD // usable at once, and no probe on the wire
	}
	err := handle.AddrAdd(wire, addr)
	if n.addr.Is6() && (errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EAFNOSUPPORT)) {
		return fmt.Errorf("this kernel has no IPv6 (%w): %w", err, lab.ErrUnsupported)
	}
	return err
}

// routes are the ways to the peer and its other addresses. Their attributes set
// TCP's congestion control and initial window for every program, whether it
// takes the connection or opens it: outside the initial namespace the sysctl
// refuses algorithms that the machine's owner has not set free.
func (n network) routes(wire netlink.Link) []*netlink.Route {
	_, bits := n.family()
	to := []*net.IPNet{prefix(n.peer, bits)}
	if n.aliases.IsValid() {
		to = append(to, prefix(n.aliases.Addr(), n.aliases.Bits()))
	}
	var routes []*netlink.Route
	for _, dest := range to {
		r := &netlink.Route{
			LinkIndex: wire.Attrs().Index, Dst: dest, Src: n.addr.AsSlice(),
			Congctl: n.cc, InitCwnd: n.initCwnd,
		}
		if n.addr.Is4() {
			r.Scope = netlink.SCOPE_LINK
		}
		routes = append(routes, r)
	}
	return routes
}

func (n network) addRoutes(handle *netlink.Handle, wire netlink.Link) error {
	for _, r := range n.routes(wire) {
		err := handle.RouteReplace(r)
		if errors.Is(err, unix.EINVAL) && n.cc != "" {
			return fmt.Errorf("this kernel does not know the congestion control %q, only %s (%w): %w",
				n.cc, availableCC(), err, lab.ErrUnsupported)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRoutes makes sure that the kernel took the routes' attributes.
func (n network) checkRoutes(handle *netlink.Handle, wire netlink.Link) error {
	family, _ := n.family()
	for _, want := range n.routes(wire) {
		have, err := handle.RouteListFiltered(family, want, netlink.RT_FILTER_DST|netlink.RT_FILTER_OIF)
		if err != nil {
			return err
		}
		taken := func(r netlink.Route) bool { return r.Congctl == n.cc && r.InitCwnd == n.initCwnd }
		if !slices.ContainsFunc(have, taken) {
			return fmt.Errorf("want congestion control %q and initial window %d, have %v", n.cc, n.initCwnd, have)
		}
	}
	return nil
}

func prefix(a netip.Addr, bits int) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(bits, a.BitLen())}
}

func availableCC() string {
	b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return "what it does not tell"
	}
	return strings.Join(strings.Fields(string(b)), ", ")
}

// sysctls are the settings of a host that only exist as files in /proc/sys/net.
var sysctls = []struct{ file, value string }{
	// What one connection learnt of the path must not help the next.
	{"ipv4/tcp_no_metrics_save", "1"},
	// A message of the path's router comes from an address without a route; some
	// distributions drop those (RFC 3704), and hosts inherit that.
	{"ipv4/conf/all/rp_filter", "0"},
	{"ipv4/conf/" + deviceName + "/rp_filter", "0"},
}

// setSysctls makes the settings of the calling thread's network namespace, whose
// device exists. /proc/sys/net shows each thread its own namespace, whichever
// process and PID namespace /proc was mounted for.
func setSysctls() error {
	err := writeSysctls()
	if errors.Is(err, unix.EROFS) {
		if err := mountProc(); err != nil {
			return fmt.Errorf("/proc/sys is read-only here, and a new /proc is refused (%w): "+
				"start the container with --security-opt systempaths=unconfined", err)
		}
		err = writeSysctls()
	}
	if err != nil {
		return fmt.Errorf("set sysctl: %w", err)
	}
	return nil
}

// writeSysctls leaves alone what is as it should be.
func writeSysctls() error {
	for _, s := range sysctls {
		file := "/proc/sys/net/" + s.file
		if have, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(have)) == s.value {
			continue
		}
		if err := os.WriteFile(file, []byte(s.value), 0); err != nil {
			return err
		}
	}
	return nil
}

// mountProc gives the calling thread, and the processes it will start, a mount
// namespace of their own with a fresh /proc. Container engines mount /proc/sys
// read-only; a namespace's own settings are its own to change.
func mountProc() error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}
