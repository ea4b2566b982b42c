package ip

// Parse reads the headers of a packet, from its IP header on. Payload aliases p.
func Parse(p []byte) (Packet, error) { return Packet{}, nil }
