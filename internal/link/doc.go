// Package link is the path model: what becomes of a packet that is offered to
// one direction of the emulated path at a given time.
//
// In go packets, each with the time at which it is offered; out they come when
// they are due, or the reason for their drop. The package is pure: it reads no
// clock. Sites move the packets and say what time it is, so that one model
// serves virtual and real time.
//
// The stages, in order: address translation, MTU, rules, loss, throttle, netem's
// limit, policer or queue with its AQM, rate, delay with jitter. As with netem, a
// packet that is lost takes no room in the queue and no time on the link. Whether
// a packet is duplicated, corrupted or let pass without its delay is drawn before
// the queue. The duplicate is another sound copy that goes right behind the
// packet, with the same delay; it does not count as a packet offered. A packet
// without its delay still waits its turn for the rate.
//
// Properties that an edit must keep:
//   - what chance decides about the nth packet of a direction depends on seed,
//     direction and n alone: not on time, size, protocol, site, or on what
//     became of other packets (with lab.Loss.Super: on the number of the
//     super-packet);
//   - independent losses of a seed are the same packets in every version;
//   - without loss by queue, departures are exact: n packets of one size leave
//     in n × size / rate, without drift, whenever the caller is late;
//   - a packet is dropped when it is offered, or comes out of Pop exactly once
//     with Last set;
//   - packets are delivered in the order in which they were offered, but for
//     those that jitter, reordering or FQ-CoDel lets overtake;
//   - no delivery is before the offer;
//   - bytes that are no IP packet, or half of one, pass like any other packet: no
//     stage reads beyond the end;
//   - memory is bounded by what the rate, its queue and the limit let be on the
//     way at one time, and by the number of the client's ports;
//   - a packet costs no allocation once these have been seen, but for the
//     messages of the emulated network.
//
// What is not modelled:
//   - a router that fragments: what exceeds the MTU is dropped, and is answered
//     as if it must not be fragmented even where IPv4 would allow it;
//   - the least MTU of IPv6, 1280 bytes: a smaller one is carried out, and told
//     in Packet Too Big, which a host need not believe below 1280 (RFC 8201);
//   - the emulated network's own address: its messages come from the address to
//     which the packet was going, and half a round trip after the offer;
//   - limits on how many such messages a router sends in a second (see
//     maxMessages for those on their way);
//   - an address translation that is anywhere but beside the client: packets to
//     a mapping that becomes invalid while they are on their way still arrive.
//     It does not translate ICMP (see nat);
//   - packets of the first, larger MTU that are on their way when it shrinks:
//     they still arrive;
//   - bits flipped in the headers do not change where a packet goes: routers'
//     own checks of IP headers are left to the host.
//
// It also counts lateness (Lateness), which is no part of the model.
package link
