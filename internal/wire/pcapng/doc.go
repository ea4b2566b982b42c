// Package pcapng writes captures as files that Wireshark and the like open, and
// reads them back.
//
// In goes a wire.Capture and out come the bytes of a pcapng file (PCAP Next
// Generation, draft-ietf-opsawg-pcapng), or the other way round. The file has one
// interface for each direction, with the times at which packets were offered to
// the link, in nanoseconds since the run's start, which stands as 1970-01-01
// 00:00:00 UTC; the secrets of TLS, so that it opens decrypted; and comments on
// what the link did to a packet. Each packet's last comment begins with
// "samewire:" and has the rest of a wire.Packet, so that nothing is lost.
//
// Foreign pcapng and pcap files are read too, of Ethernet, Linux's cooked
// capture, loopback or raw IP: who sent the SYN, or the first Initial, is the
// client; all packets count as delivered at once.
//
// Not modelled: what is neither IPv4 nor IPv6 is left out; so are compressed
// files, and the statistics of interfaces.
package pcapng
