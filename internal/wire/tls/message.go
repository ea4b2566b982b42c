// Package tls reads the records and handshake messages of TLS 1.2 and 1.3 (RFC
// 8446, RFC 5246), and the bare handshake messages of QUIC (RFC 9001).
//
// In go the bytes of each direction of a connection, in order and in pieces of
// any size, and the secrets of a key log; out come the messages that these bytes
// completed, application data decrypted, and what the handshake said (Hello).
//
// Without its secret a record is told as what it is from outside. Nothing is
// verified: no certificate, no Finished. Not modelled: DTLS, renegotiation,
// suites that are not AEAD (their records are told, and not opened), compressed
// certificates' contents, and Encrypted Client Hello (the outer one is read).
package tls

import "github.com/samewire/samewire/internal/lab"

// Kind names a message.
type Kind string

// Handshake messages have the names of RFC 8446 and RFC 5246, without "the".
const (
	HelloRequest        Kind = "HelloRequest"
	ClientHello         Kind = "ClientHello"
	ServerHello         Kind = "ServerHello"
	HelloRetryRequest   Kind = "HelloRetryRequest"
	NewSessionTicket    Kind = "NewSessionTicket"
	EndOfEarlyData      Kind = "EndOfEarlyData"
	EncryptedExtensions Kind = "EncryptedExtensions"
	Certificate         Kind = "Certificate"
	ServerKeyExchange   Kind = "ServerKeyExchange"
	CertificateRequest  Kind = "CertificateRequest"
	ServerHelloDone     Kind = "ServerHelloDone"
	CertificateVerify   Kind = "CertificateVerify"
	ClientKeyExchange   Kind = "ClientKeyExchange"
	Finished            Kind = "Finished"
	CertificateStatus   Kind = "CertificateStatus"
	CompressedCert      Kind = "CompressedCertificate"
	KeyUpdate           Kind = "KeyUpdate"
	OtherHandshake      Kind = "handshake" // see Note

	ChangeCipherSpec Kind = "ChangeCipherSpec"
	Alert            Kind = "Alert"
	// ApplicationData is a record of application data; one that is not Opened may
	// in TLS 1.3 hold anything.
	ApplicationData Kind = "ApplicationData"
	// EncryptedHandshake is a handshake record of TLS 1.2 that could not be opened
	// and is not the Finished.
	EncryptedHandshake Kind = "EncryptedHandshake"
	// Broken says that the direction cannot be read from Begin on; see Problem. It is
	// the last message of its direction.
	Broken Kind = "broken"
)

// Message is a handshake message, or a record of another type.
type Message struct {
	Kind Kind
	Way  lab.Direction
	// [Begin, End) are the offsets in the direction's bytes of the record or records
	// that carried it, headers included; of a QUIC CRYPTO stream, of the message.
	Begin, End int64
	// Size is the message's bytes without the record layer: of a handshake message
	// with the 4 of its header, of application data the plaintext. Of a record that
	// could not be opened it is what follows the record's header.
	Size int
	// Encrypted: it was sent encrypted. Opened: it was read, in clear or decrypted;
	// where it was not, Problem says why, or there was no secret for it.
	Encrypted, Opened bool
	// Early: it was sent as early data (0-RTT), under the early secret. Application
	// data of a connection whose Hello().EarlyAccepted becomes false never reached
	// the application.
	Early bool
	// Data is decrypted application data. It is valid until the next Read.
	Data []byte
	// Offset is where Data begins in the direction's application data. It begins
	// again at 0 after early data that the server rejected.
	Offset int64
	Note   string // for a person: an alert's name, a handshake type's number
	// Problem says why the message could not be read; empty: it was.
	Problem string
}
