package lab

import (
	"net/netip"
	"time"
)

// ServerConfig is all that a server needs to know of a run. It is what
// `samewire serve --lab` reads.
type ServerConfig struct {
	Addr    netip.AddrPort `json:"addr"` // for TCP and UDP
	TLS     string         `json:"tls"`  // lowest and highest version on TCP: "1.3" or "1.2"
	CertPEM []byte         `json:"cert"`
	KeyPEM  []byte         `json:"key"`
	Tracing Tracing        `json:"-"`
}

// ClientConfig is all that a client needs to know of a run. It is what
// `samewire get --lab` reads.
type ClientConfig struct {
	Addr        netip.AddrPort `json:"addr"`        // of the server; no name is resolved
	ServerName  string         `json:"server_name"` // for TLS and the Host header
	RootPEM     []byte         `json:"root"`        // empty: the machine's own roots
	Protocol    Protocol       `json:"protocol"`
	TLS         string         `json:"tls"` // as in ServerConfig
	Load        Load           `json:"load"`
	Connections int            `json:"connections"` // to open; at least 1
	Timeout     time.Duration  `json:"timeout_ns"`  // of the load; 0 means none
	Tracing     Tracing        `json:"-"`
}

// ServerConfig returns what the run's server needs to know.
func (r Run) ServerConfig() (ServerConfig, error) {
	a, err := NewAuthority(r.Authority)
	if err != nil {
		return ServerConfig{}, err
	}
	_, server := r.Cell.Path.Family.Hosts()
	return ServerConfig{
		Addr: netip.AddrPortFrom(server, Port), TLS: r.Cell.Stack.TLS,
		CertPEM: a.CertPEM, KeyPEM: a.KeyPEM,
	}, nil
}

// ClientConfig returns what the run's client needs to know.
func (r Run) ClientConfig() (ClientConfig, error) {
	a, err := NewAuthority(r.Authority)
	if err != nil {
		return ClientConfig{}, err
	}
	_, server := r.Cell.Path.Family.Hosts()
	return ClientConfig{
		Addr: netip.AddrPortFrom(server, Port), ServerName: ServerName, RootPEM: a.RootPEM,
		Protocol: r.Cell.Protocol, TLS: r.Cell.Stack.TLS, Load: r.Cell.Load,
		Connections: r.Cell.Load.For(r.Cell.Protocol), Timeout: r.Timeout,
	}, nil
}
