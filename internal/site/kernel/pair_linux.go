package kernel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/plan"
)

// pair joins the hosts by a veth pair, on whose devices the kernel's queueing
// disciplines do what the link does elsewhere. samewire moves no packet; it
// only looks on (see tap).
//
// Properties that an edit must keep: nothing but the programs' packets is on the
// wire, not even a host's looking for its neighbour, which would wait for its
// answer through netem; what a queueing discipline is given is a packet of the
// wire, unless the path asks for super-packets; packets arrive in the order in
// which it let them go.
type pair struct {
	client, server *Host
	tap            *tap
}

// The devices' hardware addresses: locally administered.
var (
	clientMAC = net.HardwareAddr{2, 0, 0, 0, 0, 1}
	serverMAC = net.HardwareAddr{2, 0, 0, 0, 0, 2}
)

// newBareHost makes a host that has no device yet.
func newBareHost(n network) (*Host, error) {
	n.shaped = true
	return newHostWith(n, false, (*Host).enter)
}

// join joins two bare hosts by a path. On an error the hosts are as they
// were, or not of use.
func join(ctx context.Context, client, server *Host, path lab.Path, super bool, o *observer) (*pair, error) {
	n := plan.ExportNetem(path)
	if err := client.thread.do(func() error { return addVeth(client.netlink, server) }); err != nil {
		return nil, fmt.Errorf("join hosts: %w", err)
	}
	for _, end := range []struct {
		host     *Host
		peer     net.HardwareAddr
		commands []string
	}{{client, serverMAC, n.Up}, {server, clientMAC, n.Down}} {
		if err := end.host.thread.do(func() error { return end.host.plug(end.peer, super) }); err != nil {
			return nil, fmt.Errorf("set up host %s: %w", end.host.network.addr, err)
		}
		if err := end.host.steer(); err != nil {
			return nil, fmt.Errorf("set up host %s: %w", end.host.network.addr, err)
		}
		if err := end.host.shape(ctx, end.commands); err != nil {
			return nil, fmt.Errorf("set up host %s: %w", end.host.network.addr, err)
		}
	}
	joined := &pair{client: client, server: server}
	err := client.thread.do(func() (err error) {
		joined.tap, err = openTap(deviceName, newEnds(lab.Up, path.Family), newEnds(lab.Down, path.Family), o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return joined, nil
}

// addVeth makes the pair: one end in the namespace of handle, the other in that
// of a host.
func addVeth(handle *netlink.Handle, other *Host) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.HardwareAddr = deviceName, clientMAC
	err := handle.LinkAdd(&netlink.Veth{
		LinkAttrs: attrs, PeerName: deviceName, PeerHardwareAddr: serverMAC, PeerNamespace: netlink.NsFd(int(other.ns.Fd())),
	})
	if errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("this kernel has no veth devices (%w): run modprobe veth on the host", err)
	}
	return err
}

// plug sets the host up around its end of the pair, on its own thread. The other
// end's hardware address is told, so that nobody has to ask for it.
func (h *Host) plug(peer net.HardwareAddr, super bool) error {
	if !super {
		if err := offloadOff(deviceName); err != nil {
			return err
		}
	}
	wire, err := h.netlink.LinkByName(deviceName)
	if err != nil {
		return fmt.Errorf("find device: %w", err)
	}
	if !super {
		// TCP makes super-packets even for a device that cuts none (Linux 4.17).
		if err := h.netlink.LinkSetGSOMaxSegs(wire, 1); err != nil {
			return fmt.Errorf("forbid super-packets of more than one segment: %w", err)
		}
	}
	if err := h.netlink.LinkSetARPOff(wire); err != nil {
		return fmt.Errorf("switch ARP off: %w", err)
	}
	if err := h.network.setUp(h.netlink); err != nil {
		return err
	}
	family, _ := h.network.family()
	err = h.netlink.NeighSet(&netlink.Neigh{
		LinkIndex: wire.Attrs().Index, Family: family, State: netlink.NUD_PERMANENT,
		IP: h.network.peer.AsSlice(), HardwareAddr: peer,
	})
	if err != nil {
		return fmt.Errorf("add neighbour: %w", err)
	}
	return nil
}

// tcPatience is how long tc may take.
const tcPatience = 10 * time.Second

// shape gives tc its commands, in the host.
func (h *Host) shape(ctx context.Context, commands []string) error {
	if len(commands) == 0 {
		return nil
	}
	tc, err := findTC()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, tcPatience)
	defer cancel()
	c := h.Command(ctx, tc, "-batch", "-")
	c.Stdin = strings.NewReader(tcBatch(commands, deviceName))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("tc %s: %w: %s", strings.Join(commands, "; "), err, strings.Join(strings.Fields(string(out)), " "))
	}
	return nil
}

// queues reads the counters of the host's queueing disciplines.
func (h *Host) queues() ([]queue, error) {
	wire, err := h.netlink.LinkByName(deviceName)
	if err != nil {
		return nil, fmt.Errorf("find device: %w", err)
	}
	list, err := h.netlink.QdiscList(wire)
	if err != nil {
		return nil, fmt.Errorf("read counters of queueing disciplines: %w", err)
	}
	var queues []queue
	for _, q := range list {
		a := q.Attrs()
		if a.Statistics == nil || a.Statistics.Queue == nil {
			continue
		}
		queues = append(queues, queue{handle: a.Handle >> 16, parent: a.Parent >> 16, drops: int(a.Statistics.Queue.Drops)})
	}
	return queues, nil
}

// addDrops adds what the witness could not see: the packets that were dropped
// before they came to the tap, or went from it. They were offered as well.
func (p *pair) addDrops(w *lab.Wire) {
	for _, end := range []struct {
		way  *lab.WireWay
		from *Host
	}{{&w.Up, p.client}, {&w.Down, p.server}} {
		queues, _ := end.from.queues()
		for reason, n := range netemDrops(queues) {
			end.way.Drops[string(reason)] += n
			end.way.Packets += n
			end.way.LossRuns = nil // which of them followed each other was not seen
		}
		if n := end.from.refused(); n > 0 {
			end.way.Drops[dropByLab] += n
		}
	}
}

// refused is how many packets the host's device could not hand to the other.
func (h *Host) refused() int {
	wire, err := h.netlink.LinkByName(deviceName)
	if err != nil || wire.Attrs().Statistics == nil {
		return 0
	}
	return int(wire.Attrs().Statistics.TxDropped)
}

// broken says that the witness has not seen all.
func (p *pair) broken() error {
	if n := p.tap.missed(); n > 0 {
		return fmt.Errorf("%d packets came too fast for the witness: what it says of the wire is not whole", n)
	}
	return nil
}

func (p *pair) close() error { return p.tap.close() }
