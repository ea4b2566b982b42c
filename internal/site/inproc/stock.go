//go:build !arms

package inproc

import "gvisor.dev/gvisor/pkg/tcpip/transport/tcp"

// What this program's stacks do: what netstack and quic-go do as published.
const (
	initCwnd  = tcp.InitialCwnd // in segments: a constant of netstack (RFC 6928)
	isPaced   = true
	isRebuilt = false
)
