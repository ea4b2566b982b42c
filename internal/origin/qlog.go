package origin

import (
	"context"
	"io"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlogwriter"
)

// tracer makes of what opens a qlog what quic-go asks for. The names are those
// of quic-go's own DefaultConnectionTracer (qlog/qlog_dir.go, v0.65.0), which can
// only write to files.
func tracer(open func(name string) io.WriteCloser) func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
	if open == nil {
		return nil
	}
	return func(_ context.Context, client bool, id quic.ConnectionID) qlogwriter.Trace {
		side := "server"
		if client {
			side = "client"
		}
		w := open(id.String() + "_" + side + ".sqlog")
		if w == nil {
			return nil
		}
		trace := qlogwriter.NewConnectionFileSeq(w, client, id)
		go trace.Run() // ends with the connection
		return trace
	}
}
