// Package quic reads QUIC packets, versions 1 and 2 (RFC 8999, RFC 9000, RFC
// 9001, RFC 9369), after the fact and from between the two ends.
//
// In go the UDP payloads of a connection, in the order in which they were sent,
// perhaps cut short, and the secrets of a key log. Out come the packets of each
// datagram, decrypted as far as their keys are known, with their frames (RFC
// 9000, section 19; RFC 9221), the TLS messages of their CRYPTO streams, and both
// sides' transport parameters. Demux tells which connection a datagram belongs
// to.
//
// Nothing is guessed: a packet that does not authenticate changes nothing, and
// says why it was not opened. Memory is bounded whatever comes: lengths and
// offsets of packets never allocate by themselves.
//
// Not modelled: flow control and the states of streams, loss and timers, whether
// an end was allowed to send what it sent, AES-128-CCM, multipath, and the
// version-specific parts of other versions.
package quic
