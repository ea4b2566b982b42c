package tls

import "fmt"

// suiteNames are the cipher suites that programs still offer, by IANA's registry
// "TLS Cipher Suites".
var suiteNames = map[uint16]string{
	0x0005: "TLS_RSA_WITH_RC4_128_SHA",
	0x000a: "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
	0x002f: "TLS_RSA_WITH_AES_128_CBC_SHA",
	0x0033: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA",
	0x0035: "TLS_RSA_WITH_AES_256_CBC_SHA",
	0x0039: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA",
	0x003c: "TLS_RSA_WITH_AES_128_CBC_SHA256",
	0x003d: "TLS_RSA_WITH_AES_256_CBC_SHA256",
	0x0067: "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256",
	0x006b: "TLS_DHE_RSA_WITH_AES_256_CBC_SHA256",
	0x009c: "TLS_RSA_WITH_AES_128_GCM_SHA256",
	0x009d: "TLS_RSA_WITH_AES_256_GCM_SHA384",
	0x009e: "TLS_DHE_RSA_WITH_AES_128_GCM_SHA256",
	0x009f: "TLS_DHE_RSA_WITH_AES_256_GCM_SHA384",
	0x00a8: "TLS_PSK_WITH_AES_128_GCM_SHA256",
	0x00a9: "TLS_PSK_WITH_AES_256_GCM_SHA384",
	0x00ff: "TLS_EMPTY_RENEGOTIATION_INFO_SCSV",
	0x1301: "TLS_AES_128_GCM_SHA256",
	0x1302: "TLS_AES_256_GCM_SHA384",
	0x1303: "TLS_CHACHA20_POLY1305_SHA256",
	0x1304: "TLS_AES_128_CCM_SHA256",
	0x1305: "TLS_AES_128_CCM_8_SHA256",
	0x5600: "TLS_FALLBACK_SCSV",
	0xc007: "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
	0xc008: "TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA",
	0xc009: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
	0xc00a: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
	0xc011: "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
	0xc012: "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
	0xc013: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
	0xc014: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
	0xc023: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
	0xc024: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384",
	0xc027: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
	0xc028: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384",
	0xc02b: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
	0xc02c: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
	0xc02f: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
	0xc030: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
	0xc09c: "TLS_RSA_WITH_AES_128_CCM",
	0xc09d: "TLS_RSA_WITH_AES_256_CCM",
	0xc09e: "TLS_DHE_RSA_WITH_AES_128_CCM",
	0xc09f: "TLS_DHE_RSA_WITH_AES_256_CCM",
	0xc0ac: "TLS_ECDHE_ECDSA_WITH_AES_128_CCM",
	0xc0ad: "TLS_ECDHE_ECDSA_WITH_AES_256_CCM",
	0xcca8: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
	0xcca9: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
	0xccaa: "TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
}

// groupNames are IANA's registry "TLS Supported Groups".
var groupNames = map[uint16]string{
	0x0013: "secp192r1", 0x0015: "secp224r1", 0x0016: "secp256k1",
	0x0017: "secp256r1", 0x0018: "secp384r1", 0x0019: "secp521r1",
	0x001a: "brainpoolP256r1", 0x001b: "brainpoolP384r1", 0x001c: "brainpoolP512r1",
	0x001d: "x25519", 0x001e: "x448",
	0x001f: "brainpoolP256r1tls13", 0x0020: "brainpoolP384r1tls13", 0x0021: "brainpoolP512r1tls13",
	0x0029: "curveSM2",
	0x0100: "ffdhe2048", 0x0101: "ffdhe3072", 0x0102: "ffdhe4096", 0x0103: "ffdhe6144", 0x0104: "ffdhe8192",
	0x0200: "MLKEM512", 0x0201: "MLKEM768", 0x0202: "MLKEM1024",
	0x11eb: "SecP256r1MLKEM768", 0x11ec: "X25519MLKEM768", 0x11ed: "SecP384r1MLKEM1024",
	0x6399: "X25519Kyber768Draft00", 0x639a: "SecP256r1Kyber768Draft00",
}

// versionNames are TLS's versions (RFC 8446, appendix D).
var versionNames = map[uint16]string{0x0300: "SSL 3.0", 0x0301: "1.0", 0x0302: "1.1", 0x0303: "1.2", 0x0304: "1.3"}

// alertNames are IANA's registry "TLS Alerts".
var alertNames = map[byte]string{
	0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed", 22: "record_overflow",
	30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate", 42: "bad_certificate",
	43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired", 46: "certificate_unknown",
	47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied", 50: "decode_error", 51: "decrypt_error",
	60: "export_restriction", 70: "protocol_version", 71: "insufficient_security", 80: "internal_error",
	86: "inappropriate_fallback", 90: "user_canceled", 100: "no_renegotiation", 109: "missing_extension",
	110: "unsupported_extension", 111: "certificate_unobtainable", 112: "unrecognized_name",
	113: "bad_certificate_status_response", 114: "bad_certificate_hash_value", 115: "unknown_psk_identity",
	116: "certificate_required", 120: "no_application_protocol", 121: "ech_required",
}

// SuiteName is a cipher suite's name in the IANA registry, "GREASE" for values
// reserved by RFC 8701, and the number in hexadecimal digits for others.
func SuiteName(id uint16) string { return name(suiteNames, id) }

// GroupName is the same of a group for key exchange.
func GroupName(id uint16) string { return name(groupNames, id) }

// AlertName is the name of an alert's description, and its number for others.
// QUIC has it in CONNECTION_CLOSE as 0x100 + description (RFC 9001, section 4.8).
func AlertName(description byte) string {
	if n, ok := alertNames[description]; ok {
		return n
	}
	return fmt.Sprintf("alert %d", description)
}

func versionName(id uint16) string { return name(versionNames, id) }

func name(names map[uint16]string, id uint16) string {
	if n, ok := names[id]; ok {
		return n
	}
	if id&0x0f0f == 0x0a0a && id>>8 == id&0xff { // RFC 8701
		return "GREASE"
	}
	return fmt.Sprintf("0x%04x", id)
}
