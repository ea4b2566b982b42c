package gauge

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
)

// Pair is two network namespaces joined by a bare veth pair: what this machine
// can do without an emulated path.
type Pair struct{ Client, Server *VethHost }

// VethHost is one of a Pair's hosts.
type VethHost struct {
	addr netip.Addr
	work chan func()
	quit chan struct{}
	ns   *os.File
}

// NewPair makes a pair. It needs the right to make network namespaces.
func NewPair() (*Pair, error) {
	client, server := lab.IPv4.Hosts()
	p := &Pair{newVethHost(client), newVethHost(server)}
	if err := p.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("make veth pair: %w", err), p.Close())
	}
	return p, nil
}

func (p *Pair) build() error {
	for _, h := range []*VethHost{p.Client, p.Server} {
		if err := h.Do(h.enter); err != nil {
			return err
		}
	}
	err := p.Client.Do(func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.MTU = "bare", lab.DefaultMTU
		return netlink.LinkAdd(&netlink.Veth{
			LinkAttrs: attrs, PeerName: "bare", PeerNamespace: netlink.NsFd(int(p.Server.ns.Fd())),
		})
	})
	if err != nil {
		return err
	}
	for _, h := range []*VethHost{p.Client, p.Server} {
		if err := h.Do(h.bringUp); err != nil {
			return err
		}
	}
	return nil
}

// Close lets go of the namespaces; the pair goes with them.
func (p *Pair) Close() error { return errors.Join(p.Client.close(), p.Server.close()) }

func newVethHost(addr netip.Addr) *VethHost {
	h := &VethHost{addr: addr, work: make(chan func()), quit: make(chan struct{})}
	started := make(chan struct{})
	go h.serve(started)
	<-started
	return h
}

// serve keeps a thread for the namespace. It returns with the thread locked,
// which ends it; the process's first thread cannot be ended, and is passed over.
func (h *VethHost) serve(started chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		go h.serve(started)
		<-started
		runtime.UnlockOSThread()
		return
	}
	close(started)
	for {
		select {
		case f := <-h.work:
			f()
		case <-h.quit:
			return
		}
	}
}

// Do carries out f in the host's namespace.
func (h *VethHost) Do(f func() error) error {
	done := make(chan error, 1)
	h.work <- func() { done <- f() }
	return <-done
}

// Addr is the host's address.
func (h *VethHost) Addr() netip.Addr { return h.addr }

func (h *VethHost) close() error {
	close(h.quit)
	if h.ns == nil {
		return nil
	}
	return h.ns.Close()
}

func (h *VethHost) enter() (err error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return err
	}
	h.ns, err = os.Open("/proc/thread-self/ns/net")
	return err
}

func (h *VethHost) bringUp() error {
	device, err := netlink.LinkByName("bare")
	if err != nil {
		return err
	}
	addr := &netlink.Addr{IPNet: &net.IPNet{IP: h.addr.AsSlice(), Mask: net.CIDRMask(24, 32)}}
	return errors.Join(netlink.AddrAdd(device, addr), netlink.LinkSetUp(device))
}
