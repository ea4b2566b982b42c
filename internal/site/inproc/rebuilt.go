//go:build arms

package inproc

import (
	"github.com/quic-go/quic-go"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

// What this program's stacks do, read back from the patched copies of netstack and
// quic-go, which have it from the environment. Without the patches (see the folder
// arms) this file does not compile, so that no program can claim what it does not do.
var (
	initCwnd int = tcp.InitialCwnd // in segments
	isPaced      = quic.Paced()
)

const isRebuilt = true
