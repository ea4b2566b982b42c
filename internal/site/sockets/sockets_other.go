//go:build !linux

package sockets

import (
	"net"

	"github.com/samewire/samewire/internal/lab"
)

func sender(net.Conn) (lab.Sender, bool) { return lab.Sender{}, false }

func udpReceiveBuffer(net.PacketConn) (int, bool) { return 0, false }
