package pcapng

import "testing"

// The first packet over UDP that a capture has of a conversation tells whose it
// is, as far as it can.
func TestWhoSpeaksFirst(t *testing.T) {
	v1, v2 := []byte{0, 0, 0, 1}, []byte{0x6b, 0x33, 0x43, 0xcf}
	for name, tt := range map[string]struct {
		first    byte
		version  []byte
		from, to uint16
		client   bool
	}{
		"a client's Initial":                {0xc0, v1, 50000, 443, true},
		"a server's Initial":                {0xc0, v1, 443, 50000, false},
		"an Initial from the lower port":    {0xc0, v1, 40000, 50000, true},
		"a server's Handshake":              {0xe0, v1, 4433, 1500, false},
		"a Handshake from the lower port":   {0xe0, v1, 40000, 50000, false},
		"a Handshake from the higher port":  {0xe0, v1, 50000, 40000, true},
		"a Retry from the higher port":      {0xf0, v1, 50000, 40000, false},
		"a Retry of version 2":              {0xc0, v2, 50000, 40000, false},
		"0-RTT from the lower port":         {0xd0, v1, 40000, 50000, true},
		"an Initial of version 2":           {0xd0, v2, 40000, 50000, true},
		"a Handshake of version 2":          {0xf0, v2, 40000, 50000, false},
		"a negotiation of versions":         {0xc0, []byte{0, 0, 0, 0}, 50000, 40000, false},
		"of a version that nobody knows":    {0xc0, []byte{9, 9, 9, 9}, 40000, 50000, true},
		"the same from the port of servers": {0xc0, []byte{9, 9, 9, 9}, 443, 50000, false},
		"too short to say":                  {0xc0, nil, 40000, 50000, true},
	} {
		if got := speaker(append([]byte{tt.first}, tt.version...), tt.from, tt.to); got != tt.client {
			t.Errorf("%s: of the client: %v, want %v", name, got, tt.client)
		}
	}
}
