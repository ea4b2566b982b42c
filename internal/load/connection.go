package load

import (
	"net/http"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// connection is one connection, or the failure to open it.
type connection struct {
	http.RoundTripper           // nil when another protocol was negotiated
	doing             string    // what was done last of the opening
	err               error     // why that failed
	protocol          string    // negotiated; empty before
	established       time.Time // TCP's handshake done; zero before, and for QUIC
	secured           time.Time // TLS's or QUIC's handshake done; zero before
	claimed           bool      // some request has the times of the opening

	senders []lab.Sender // none or one
	buffer  *int         // UDP receive buffer in bytes
	closing []func()     // undo the opening, in this order
}

// claim gives the times of the opening to request r if it is the first one on
// the connection.
func (c *connection) claim(r *lab.Request, start time.Time) {
	if c.claimed {
		return
	}
	c.claimed = true
	r.Connect, r.AppConnect = seconds(c.established, start), seconds(c.secured, start)
}

// close closes the connection, once.
func (c *connection) close() {
	for _, f := range c.closing {
		f()
	}
	c.closing = nil
}

// seconds is the time from start to t, or nil when t never came.
func seconds(t, start time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	s := t.Sub(start).Seconds()
	return &s
}
