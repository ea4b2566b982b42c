//go:build !linux

package gauge

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

var errLinux = errors.New("the instruments need Linux")

// Packets fails: the instruments need Linux.
func Packets(context.Context, Lab, Job, func(string)) ([]Check, error) { return nil, errLinux }

// Streams fails: the instruments need Linux.
func Streams(context.Context, Lab, Job, func(string)) ([]Check, error) { return nil, errLinux }

// Against fails: the instruments need Linux.
func Against(context.Context, Lab, Lab, time.Duration, func(string)) ([]Check, error) {
	return nil, errLinux
}

// Pair cannot be made on this system.
type Pair struct{ Client, Server *VethHost }

// VethHost cannot be made on this system.
type VethHost struct{}

// NewPair fails: it needs Linux.
func NewPair() (*Pair, error) { return nil, errLinux }

// Close does nothing.
func (p *Pair) Close() error { return nil }

// Do fails: it needs Linux.
func (h *VethHost) Do(func() error) error { return errLinux }

// Addr returns no address.
func (h *VethHost) Addr() netip.Addr { return netip.Addr{} }
