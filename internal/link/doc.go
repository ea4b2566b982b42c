// Package link is the path model: what becomes of a packet that is offered to
// one direction of the emulated path at a given time.
//
// In go packets, each with the time at which it is offered; out they come when
// they are due, or the reason for their drop. The package is pure: it reads no
// clock. Sites move the packets and say what time it is, so that one model
// serves virtual and real time.
//
// The stages, in order: MTU, loss, queue, rate, delay. As with netem, a packet
// that is lost takes no room in the queue and no time on the link.
//
// Properties that an edit must keep:
//   - the fate of loss of the nth packet of a direction depends on seed,
//     direction and n alone: not on time, size, protocol, site, or on what
//     became of other packets;
//   - without loss by queue, departures are exact: n packets of one size leave
//     in n × size / rate, without drift, whenever the caller is late;
//   - packets are delivered in the order in which they were offered;
//   - memory is bounded by the queue limit.
//
// It also counts lateness (Lateness), which is no part of the model.
package link
