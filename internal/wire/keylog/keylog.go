// Package keylog reads TLS secrets in the format of NSS's key log, which
// SSLKEYLOGFILE names (draft-ietf-tls-keylogfile).
package keylog

// Log has secrets by label and client random.
type Log struct {
	secrets map[key][]byte
}

type key struct {
	label  string
	random [32]byte
}

// Secret returns the secret of a label, such as CLIENT_TRAFFIC_SECRET_0, for the
// connection with that client random; nil where it is not there.
func (l *Log) Secret(label string, random [32]byte) []byte {
	if l == nil {
		return nil
	}
	return l.secrets[key{label, random}]
}
