// Package gauge holds the instruments that measure what a path between two
// network namespaces really does, and the judgement whether it is what it
// claims to be.
//
// In go two hosts and the path that is asked for; out come checks: what was
// asked, what was measured, the tolerance, and whether it holds. What is asked
// follows from lab.Path by closed forms, never from the link model: a fault of
// the model shows.
//
// How it measures: datagrams that carry their number and the time of sending,
// read from the clock on a locked thread right before the system call; the
// receiver's kernel stamps the arrival (SO_TIMESTAMPNS) when the device hands
// the packet up. So how long the receiving program waits for a processor is in
// no figure. What remains in them: the system call of sending (some 5 µs), the
// wait of the packet in the sender's device until the path reads it, the path's
// lateness in delivering it, and steps of the machine's clock. Datagrams that
// the receiver's socket had no room for, and packets that the lab itself lost,
// are counted apart, and spoil a series that counts losses: it is repeated.
//
// Not measured: anything above UDP but TCP's goodput; what rules, traces and
// active queue management do, beyond whether that marks. Whatever a path asks for
// has a row all the same: it is unchecked (words.go).
//
// The instruments need Linux; the judgement is pure and runs anywhere.
package gauge
