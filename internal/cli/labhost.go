package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// labRanges are the addresses of emulated hosts.
var labRanges = []netip.Prefix{netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("2001:2::/48")}

// insideLab says whether this process stands inside an emulated host: its
// network must be the loopback device and devices with a lab's addresses only.
// Anywhere else a lab's server and client refuse to start.
func insideLab() error {
	devices, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("look at the network: %w", err)
	}
	inside := false
	for _, d := range devices {
		if d.Flags&net.FlagLoopback != 0 {
			continue
		}
		addrs, err := d.Addrs()
		if err != nil {
			return fmt.Errorf("look at the network: %w", err)
		}
		for _, a := range addrs {
			if !ofLab(a) {
				return fmt.Errorf("--lab is for a lab's emulated hosts only; this one has the network device %s with %s", d.Name, a)
			}
			inside = true
		}
	}
	if !inside {
		return errors.New("--lab is for a lab's emulated hosts only; this one has no lab's address")
	}
	return nil
}

func ofLab(a net.Addr) bool {
	prefix, err := netip.ParsePrefix(a.String())
	if err != nil {
		return false
	}
	addr := prefix.Addr().Unmap()
	if addr.IsLinkLocalUnicast() {
		return true
	}
	for _, r := range labRanges {
		if r.Contains(addr) {
			return true
		}
	}
	return false
}
