package inproc

import (
	"errors"
	"net"
	"syscall"

	"gvisor.dev/gvisor/pkg/tcpip"
)

// errnos has the system's names for those errors of netstack that programs on
// the hosts tell apart, so that they find with errors.Is what they would find
// on the system's own sockets.
var errnos = []struct {
	err   tcpip.Error
	errno syscall.Errno
}{
	{&tcpip.ErrConnectionRefused{}, syscall.ECONNREFUSED},
	{&tcpip.ErrConnectionReset{}, syscall.ECONNRESET},
	{&tcpip.ErrConnectionAborted{}, syscall.ECONNABORTED},
	{&tcpip.ErrClosedForSend{}, syscall.EPIPE},
	{&tcpip.ErrTimeout{}, syscall.ETIMEDOUT},
	{&tcpip.ErrHostUnreachable{}, syscall.EHOSTUNREACH},
	{&tcpip.ErrNetworkUnreachable{}, syscall.ENETUNREACH},
	{&tcpip.ErrPortInUse{}, syscall.EADDRINUSE},
	{&tcpip.ErrBadLocalAddress{}, syscall.EADDRNOTAVAIL},
	{&tcpip.ErrMessageTooLong{}, syscall.EMSGSIZE},
}

// failure makes a Go error of a stack's.
func failure(err tcpip.Error) error { return named(err.String()) }

// named returns the system's error for netstack's text.
func named(text string) error {
	for _, e := range errnos {
		if e.err.String() == text {
			return e.errno
		}
	}
	return errors.New(text)
}

// system gives an error of gonet, which has netstack's text alone, the system's
// meaning. Everything else is returned as it is.
func system(err error) error {
	if err == nil { // for each read and write: nothing is allocated
		return nil
	}
	var op *net.OpError
	if !errors.As(err, &op) || op.Timeout() {
		return err
	}
	op.Err = named(op.Err.Error())
	return err
}
