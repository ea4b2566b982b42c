//go:build faketime

// The worker with virtual time takes TLS's and QUIC's randomness from a seed,
// so that runs can be replayed. Without this setting the standard library's
// cryptography would ignore the seeded reader.

//go:debug cryptocustomrand=1

package main
