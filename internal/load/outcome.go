package load

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/quic-go/quic-go"

	"github.com/samewire/samewire/internal/lab"
)

// fail says in r how the request ended, by the error that came while something
// was being done.
func fail(ctx context.Context, r *lab.Request, doing string, err error) {
	r.Outcome, r.Error = classify(ctx, err), wording(ctx, err)
	if doing != "" {
		r.Error = doing + ": " + r.Error
	}
}

// classify names the outcome that an error means. When ctx has ended, whatever
// the libraries make of it, that is what happened.
func classify(ctx context.Context, err error) lab.Outcome {
	var network net.Error
	var transport *quic.TransportError
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return lab.Timeout
	case errors.Is(err, syscall.ECONNREFUSED), strings.Contains(err.Error(), "connection was refused"): // netstack's words
		return lab.Refused
	case errors.As(err, &transport) && transport.ErrorCode == quic.ConnectionRefused:
		return lab.Refused
	case errors.As(err, &network) && network.Timeout(): // TCP's, or QUIC's idle and handshake limits
		return lab.Timeout
	default:
		return lab.Reset
	}
}

// wording says what an error says, without what differs from run to run.
func wording(ctx context.Context, err error) string {
	switch cause := ctx.Err(); {
	case errors.Is(cause, context.DeadlineExceeded):
		return "the time limit came"
	case cause != nil:
		return "the load was ended"
	}
	text := err.Error()
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		// An OpError names the local port.
		text = strings.Replace(text, op.Error(), op.Err.Error(), 1)
	}
	return text
}
