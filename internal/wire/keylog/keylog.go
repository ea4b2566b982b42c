// Package keylog reads TLS secrets in the format of NSS's key log, which
// SSLKEYLOGFILE names (RFC 9850).
//
// In goes the text; out come the secrets by label and client random. Nothing is
// derived from them.
package keylog

// The labels of TLS 1.2 (its master secret) and TLS 1.3. QUIC uses those of TLS
// 1.3. Those of later generations end in their number instead of 0; few
// programs write them, as they follow from the first.
const (
	ClientRandom             = "CLIENT_RANDOM"
	ClientEarlyTrafficSecret = "CLIENT_EARLY_TRAFFIC_SECRET"
	ClientHandshakeTraffic   = "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
	ServerHandshakeTraffic   = "SERVER_HANDSHAKE_TRAFFIC_SECRET"
	ClientTrafficSecret      = "CLIENT_TRAFFIC_SECRET_0"
	ServerTrafficSecret      = "SERVER_TRAFFIC_SECRET_0"
	ExporterSecret           = "EXPORTER_SECRET"
	EarlyExporterSecret      = "EARLY_EXPORTER_SECRET"
)

// Log has secrets by label and client random. A nil Log has none.
type Log struct {
	secrets map[key][]byte
	order   []key
}

type key struct {
	label  string
	random [32]byte
}

// Len is how many secrets there are.
func (l *Log) Len() int {
	if l == nil {
		return 0
	}
	return len(l.secrets)
}

// Secret returns the secret of a label, such as CLIENT_TRAFFIC_SECRET_0, for the
// connection with that client random; nil where it is not there.
func (l *Log) Secret(label string, random [32]byte) []byte {
	if l == nil {
		return nil
	}
	return l.secrets[key{label, random}]
}

// All has the newest secrets of a label, of all connections, at most limit, the
// newest first.
func (l *Log) All(label string, limit int) [][]byte {
	if l == nil {
		return nil
	}
	var list [][]byte
	for i := len(l.order) - 1; i >= 0 && len(list) < limit; i-- {
		if k := l.order[i]; k.label == label {
			list = append(list, l.secrets[k])
		}
	}
	return list
}

// Has says whether there is any secret for the connection with that client
// random.
func (l *Log) Has(random [32]byte) bool {
	for _, label := range []string{ClientHandshakeTraffic, ServerHandshakeTraffic, ClientTrafficSecret,
		ServerTrafficSecret, ClientRandom, ClientEarlyTrafficSecret} {
		if l.Secret(label, random) != nil {
			return true
		}
	}
	return false
}
