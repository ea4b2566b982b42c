// Package model says what theory expects of a cell: a pure function of the cell,
// in which nothing was measured. It has round trips of handshakes, slow start
// round by round, pacing, serialisation, ceilings of loss and of windows, and the
// order of requests.
//
// In goes a lab.Cell, out come metrics in the units of lab.Metrics, and the
// signed terms by which two predictions differ. Where the model does not hold,
// nothing is said: a metric is missing, and there are no terms.
//
// What is modelled, each in a file of its own: handshake.go (RFC 9000, 9001,
// 8446, 5246, 9293), sender.go (slow start, RFC 5681 and 9406), pacer.go
// (quic-go), way.go (rate and delay), requests.go (rounds of requests), loss.go
// and ceilings.go (Mathis, Padhye, RFC 9438), content.go (bytes beside the
// content).
//
// What is not modelled: paths with outages, traces, rules, policers, jitter,
// reordering, duplicates, corruption, losses in bursts, active queue management,
// a total limit, rebinding or an MTU below 1500; BBR; losses of small transfers,
// where the median hangs on which packet is lost; a round trip of zero without a
// rate, where only processors take time; the delay of programs and machines; QUIC
// senders other than quic-go; warm connections that had rested.
package model
