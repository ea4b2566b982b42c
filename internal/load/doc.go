// Package load is the embedded client: it carries out a load with HTTP/1.1,
// HTTP/2 or HTTP/3, on any network that it is given.
//
// In go a network and a lab.ClientConfig; out comes a lab.Report with one
// request for each object, whatever happened. All objects are asked for at
// once, as a page does, so that every request starts at the load's start:
//
//   - with HTTP/1.1, requests wait in one queue for the connections. All
//     connections are opened at once, and each takes the next request when it is
//     ready and whenever it has carried one out; nothing is pipelined. A
//     connection that is lost is replaced when requests still wait.
//   - with HTTP/2 and HTTP/3, request i belongs to connection i modulo their
//     number, and all requests of a connection are sent as soon as it is open,
//     in order. A connection that is lost is not replaced.
//
// The times connect and appconnect belong to the first request that a
// connection carried, and count the wait for it. The first byte of a response
// is seen by the libraries' own trace (httptrace.GotFirstResponseByte, which
// net/http and quic-go's http3 have): HTTP/1.1 sees the first byte, the other
// two see the first frame.
//
// The protocol of a request is the one that was negotiated (ALPN, then the
// response's own), never the one asked for. A body is compared with the lab's
// content byte by byte. Nothing is retried, redirected, compressed, cached or
// resumed, no proxy is used, and User-Agent is the same for all protocols.
//
// The package reads the clock, and works in virtual time: it makes no system
// calls but those of its network. Requests are sent in one order, and nothing
// about packets is decided by a map's or a select's.
//
// Not modelled: priorities, dependent requests (a page's second wave), 0-RTT,
// connection migration, happy eyeballs, keep-alive of idle connections.
package load
