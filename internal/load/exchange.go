package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// chunk is how much of a body is checked at a time, and maxAnswer how much of
// an answer that is no object is read, in bytes.
const (
	chunk     = 32 << 10
	maxAnswer = 64 << 10
)

// errTooLong says that a body was left unread.
var errTooLong = errors.New("the body is longer than it should be")

// object is what one request moves.
type object struct {
	upload bool
	size   int64
}

// exchange is one request and its response.
type exchange struct {
	cfg    *lab.ClientConfig
	object object
	start  time.Time // of the request
	sent   func()    // called when the request's header has been sent
	first  atomic.Pointer[time.Time]
	body   *upload
}

// do carries out the request on connection c and fills in r. It says whether c
// can carry another request.
func (e *exchange) do(ctx context.Context, c *connection, r *lab.Request) bool {
	r.Protocol = c.protocol
	if c.err != nil {
		fail(ctx, r, c.doing, c.err)
		return false
	}
	if c.RoundTripper == nil {
		r.Outcome, r.Error = lab.WrongProtocol, e.wrong(c.protocol)
		return false
	}
	again := e.roundTrip(ctx, c, r)
	if t := e.first.Load(); t != nil {
		r.StartTransfer = seconds(*t, e.start)
	}
	if e.body != nil {
		r.Bytes = e.body.sent.Load()
	}
	return again
}

func (e *exchange) roundTrip(ctx context.Context, c *connection, r *lab.Request) bool {
	resp, err := c.RoundTrip(e.request(ctx))
	if err != nil {
		fail(ctx, r, "request", err)
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	e.firstByte(ctx) // for a library without trace
	r.Status, r.Protocol = resp.StatusCode, protocolOf(resp)
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		err = drain(resp.Body)
		r.Outcome, r.Error = lab.Refused, "HTTP status "+strconv.Itoa(resp.StatusCode)
	case e.object.upload:
		err = e.readConfirmation(ctx, r, resp.Body)
	default:
		err = e.readObject(ctx, r, resp.Body)
	}
	if err == nil {
		r.Total = seconds(time.Now(), e.start)
	}
	if r.Protocol != string(e.cfg.Protocol) {
		r.Outcome, r.Error = lab.WrongProtocol, e.wrong(r.Protocol)
	}
	return err == nil && !resp.Close
}

// request makes the HTTP request. What it is made of was checked before.
func (e *exchange) request(ctx context.Context) *http.Request {
	req := &http.Request{
		Method: http.MethodGet,
		URL:    &url.URL{Scheme: "https", Host: authority(e.cfg), Path: fmt.Sprintf("/bytes/%d", e.object.size)},
		Header: http.Header{"User-Agent": {"samewire/" + lab.Version}},
	}
	if e.object.upload {
		req.Method, req.URL.Path = http.MethodPost, "/upload"
		e.body = &upload{content: lab.ContentReader{Size: e.object.size}}
		if e.object.size > 0 { // else it would be a body of unknown length
			req.Body, req.ContentLength = e.body, e.object.size
		}
	}
	return req.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders:         e.sent,
		GotFirstResponseByte: func() { e.firstByte(ctx) },
	}))
}

// firstByte notes the time, if it is the first time. A server may still answer
// when it is told that the client has given up: that is no first byte.
func (e *exchange) firstByte(ctx context.Context) {
	if now := time.Now(); ctx.Err() == nil {
		e.first.CompareAndSwap(nil, &now)
	}
}

// readObject reads an object and compares it with the lab's content.
func (e *exchange) readObject(ctx context.Context, r *lab.Request, body io.Reader) error {
	var check lab.ContentCheck
	_, err := io.CopyBuffer(&check, io.LimitReader(body, e.object.size+1), make([]byte, chunk))
	r.Bytes = check.N
	if check.N > e.object.size {
		err = errTooLong
	}
	switch {
	case check.Corrupt:
		r.Outcome, r.Error = lab.Corrupt, "the body is not what the server was asked for"
	case errors.Is(err, errTooLong):
		r.Outcome, r.Error = lab.Corrupt, err.Error()
	case err != nil:
		fail(ctx, r, "response body", err)
	case check.N < e.object.size:
		r.Outcome, r.Error = lab.Reset, fmt.Sprintf("the body ended before its %d bytes", e.object.size)
	default:
		r.Outcome = lab.OK
	}
	return err
}

// readConfirmation reads what the server says it received.
func (e *exchange) readConfirmation(ctx context.Context, r *lab.Request, body io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		fail(ctx, r, "response body", err)
		return err
	}
	var got struct {
		Bytes *int64 `json:"bytes"`
		OK    *bool  `json:"ok"`
	}
	switch err := json.Unmarshal(b, &got); {
	case err != nil || got.Bytes == nil || got.OK == nil:
		r.Outcome, r.Error = lab.Unsupported, "the server does not confirm what it received"
	case *got.Bytes != e.object.size || !*got.OK:
		r.Outcome, r.Error = lab.Corrupt, "the server received something else than was sent"
	default:
		r.Outcome = lab.OK
	}
	return drain(body)
}

func (e *exchange) wrong(got string) string {
	return fmt.Sprintf("asked for %s, got %s", e.cfg.Protocol, got)
}

// drain reads the rest of an answer, so that the connection can be used again.
func drain(body io.Reader) error {
	n, err := io.Copy(io.Discard, io.LimitReader(body, maxAnswer))
	if err == nil && n == maxAnswer {
		return errTooLong
	}
	return err
}

// protocolOf names the protocol of a response, or returns what the peer said.
func protocolOf(resp *http.Response) string {
	switch resp.Proto {
	case "HTTP/1.1":
		return string(lab.H1)
	case "HTTP/2.0":
		return string(lab.H2)
	case "HTTP/3.0":
		return string(lab.H3)
	default:
		return resp.Proto
	}
}

// authority is the server as the Host header names it.
func authority(cfg *lab.ClientConfig) string {
	name := cfg.ServerName
	if name == "" {
		name = cfg.Addr.Addr().String()
	}
	if cfg.Addr.Port() == lab.Port {
		if cfg.ServerName == "" && cfg.Addr.Addr().Is6() {
			return "[" + name + "]"
		}
		return name
	}
	return net.JoinHostPort(name, strconv.Itoa(int(cfg.Addr.Port())))
}

// upload is a request body that counts what was taken of it.
type upload struct {
	content lab.ContentReader
	sent    atomic.Int64
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.content.Read(p)
	u.sent.Add(int64(n))
	return n, err
}

func (u *upload) Close() error { return nil }
