// Package kernel is the site of the same name: the two hosts of a run live in
// two network namespaces of this machine and speak with the kernel's own
// TCP/IP, so that any program can be server or client.
//
// In goes a run; out come two hosts, joined by the run's path, with the run's
// server and client on them, and afterwards the facts that the lab saw. Each
// host is an anonymous network namespace with one TUN device. Every packet
// that a host sends is read from its device, offered to the link model, shown
// to the witness, and written to the other host's device when it is due.
// Devices do no segmentation offload: what is read is what would be on the
// wire, and losses fall on wire packets.
//
// Properties that an edit must keep:
//   - only packets from one host to the other are carried. All else (router
//     solicitations, multicast) is counted as foreign and does not move the
//     link's count of packets;
//   - departures are stamped in the model's own time: a late lab shows in the
//     lateness, never in the rate;
//   - a packet that the lab itself loses is counted, as drop "tun";
//   - no setting outside the two namespaces is changed, and nothing outlives
//     this process, however it ends.
//
// The processor time that the kernel spends on receiving a packet, and on what
// TCP sends in answer, falls on this process, which writes it to the device,
// and not on the host's program. Lateness is that of deliveries: how long a
// packet lay in its device before it was read cannot be seen, but is likely to
// be alike, as the same thread does both.
// Hosts share the machine's memory, disks, processors and limits on socket
// buffers. Not modelled: the offload of a network card, its queues and its
// interrupts; more than one address or path for a host.
//
// The package needs Linux. Elsewhere it compiles, and Check says so.
package kernel
