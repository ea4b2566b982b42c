// Package kernel is the site of the same name: the two hosts of a run live in
// two network namespaces of this machine and speak with the kernel's own
// TCP/IP, so that any program can be server or client.
//
// In goes a run; out come two hosts, joined by the run's path, with the run's
// server and client on them, and afterwards the facts that the lab saw. Each
// host is an anonymous network namespace with one TUN device. What a host sends
// is read from its device, offered to the link model packet by packet, shown to
// the witness, and written to the other host's device when it is due.
//
// The devices take over what network cards do (offload): they leave checksums
// open, and hand out super-packets of up to 64 KiB, which a card would cut into
// packets. The cutting is done here, before loss and queue decide, so that
// losses fall on wire packets; what survives of a super-packet and is due at one
// time is joined again, as a receiving card does, to cost the receiver's kernel
// less. With Site.NoOffload the wire is the same.
//
// Properties that an edit must keep:
//   - only packets from one host to the other are carried, or from the server to
//     an address that the path's translation gave to the client. All else (router
//     solicitations, multicast) is counted as foreign and does not move the
//     link's count of packets;
//   - the wire is the same with offload and without, packet for packet and byte
//     for byte: the same fates, the same order, the same changes;
//   - a checksum is left open on the way to a receiver only where the sender had
//     left it open and the path has not touched the packet. All others are
//     complete, and the receiver is told to check them;
//   - departures are stamped in the model's own time: a late lab shows in the
//     lateness, never in the rate;
//   - a packet that the lab itself loses is counted, as drop "tun". (Where a
//     sender's device has no room, the kernel counts a super-packet as one.)
//   - what is held of the packets under way is bounded, by the path's queues and
//     then by heldLimit for each direction;
//   - no setting outside the two namespaces is changed, and nothing outlives
//     this process, however it ends.
//
// The processor time that the kernel spends on receiving a packet, and on what
// TCP sends in answer, falls on this process, which writes it to the device,
// and not on the host's program. Lateness is that of deliveries: how long a
// packet lay in its device before it was read cannot be seen, but is likely to
// be alike, as the same thread does both.
// Hosts share the machine's memory, disks, processors and limits on socket
// buffers. Not modelled: a card's queues and its interrupts; more than one
// device for a host.
//
// The package needs Linux. Elsewhere it compiles, and Check says so.
package kernel
