package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/samewire/samewire/internal/lab"
)

func TestOutcomeOfErrors(t *testing.T) {
	reset := &net.OpError{
		Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET),
		Source: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 12345},
	}
	for _, tc := range []struct {
		err  error
		want lab.Outcome
		text string
	}{
		{io.EOF, lab.Reset, "EOF"},
		{io.ErrUnexpectedEOF, lab.Reset, "unexpected EOF"},
		{fmt.Errorf("request: %w", reset), lab.Reset, "request: read: connection reset by peer"},
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), lab.Refused, "dial: connection refused"},
		{errors.New("connection was refused"), lab.Refused, "connection was refused"},
		{&net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}, lab.Timeout, "connection timed out"},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, lab.Timeout, "i/o timeout"},
		{context.DeadlineExceeded, lab.Timeout, "context deadline exceeded"},
		{&quic.IdleTimeoutError{}, lab.Timeout, "timeout: no recent network activity"},
		{fmt.Errorf("QUIC handshake: %w", &quic.HandshakeTimeoutError{}), lab.Timeout, "QUIC handshake: timeout: handshake did not complete in time"},
		{&quic.ApplicationError{ErrorCode: 0x100, Remote: true}, lab.Reset, "Application error 0x100 (remote)"},
		{&quic.TransportError{ErrorCode: quic.InternalError, Remote: true}, lab.Reset, "INTERNAL_ERROR (remote)"},
		{&quic.TransportError{ErrorCode: quic.ConnectionRefused, Remote: true}, lab.Refused, "CONNECTION_REFUSED (remote)"},
		{&quic.StatelessResetError{}, lab.Reset, "received a stateless reset"},
		{&http3.Error{ErrorCode: http3.ErrCodeInternalError, Remote: true}, lab.Reset, "H3_INTERNAL_ERROR"},
	} {
		var r lab.Request
		fail(t.Context(), &r, "", tc.err)
		if r.Outcome != tc.want || r.Error != tc.text {
			t.Errorf("%v: %s %q, want %s %q", tc.err, r.Outcome, r.Error, tc.want, tc.text)
		}
	}
}

// Whatever a library says once the time is up, the time was up.
func TestOutcomeAfterTheEnd(t *testing.T) {
	over, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	<-over.Done()
	ended, end := context.WithCancel(t.Context())
	end()
	for text, ctx := range map[string]context.Context{"the time limit came": over, "the load was ended": ended} {
		var r lab.Request
		fail(ctx, &r, "request", io.EOF)
		if r.Outcome != lab.Timeout || r.Error != "request: "+text {
			t.Errorf("%s %q, want %q", r.Outcome, r.Error, text)
		}
	}
}
