// Package origin is the embedded server: HTTP/1.1 and HTTP/2 on TCP, HTTP/3 on
// UDP, on one port, with one handler, on any network that it is given.
//
// In go a network and a lab.ServerConfig; out come answers, and what is known
// of the server's side of a run (Server.Side). The paths that it answers:
//
//	/bytes/N       N bytes of the lab's content (lab.ContentReader), GET or HEAD
//	/upload        takes the lab's content by POST or PUT, and answers
//	               {"bytes":N,"ok":true}; ok is false when a byte was wrong
//	?delay=100ms   on any path: waits before it answers, up to an hour
//
// Bad input is answered with 400 and a sentence, any other path with 404.
// Answers over TCP carry Alt-Svc (RFC 7838) with the port of HTTP/3.
//
// The limits of the libraries are widened, and alike for all protocols, where
// they would end or slow down a run that the study's own limits allow: see the
// constants.
//
// Not modelled: caching, compression, ranges, priorities other than the
// libraries' own, 0-RTT, push.
package origin
