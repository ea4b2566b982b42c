package lab

// SiteName says where the two hosts of a run live.
type SiteName string

// The sites.
const (
	Virtual SiteName = "virtual" // user-space stacks, virtual time
	Process SiteName = "process" // user-space stacks, real time
	Kernel  SiteName = "kernel"  // network namespaces, real time
)

// SiteNames lists all sites in the order in which reports show them.
func SiteNames() []SiteName { return []SiteName{Virtual, Process, Kernel} }

// Protocol is an HTTP version: the factor that a comparison varies by default.
type Protocol string

// The protocols.
const (
	H1 Protocol = "h1" // HTTP/1.1 over TLS over TCP
	H2 Protocol = "h2" // HTTP/2 over TLS over TCP
	H3 Protocol = "h3" // HTTP/3 over QUIC
)

// Protocols lists all protocols in the order in which reports show them.
func Protocols() []Protocol { return []Protocol{H1, H2, H3} }

// Direction is a way across the path.
type Direction int

// The directions of a path.
const (
	Up   Direction = iota // from the client to the server
	Down                  // from the server to the client
)

func (d Direction) String() string {
	if d == Up {
		return "up"
	}
	return "down"
}

// Outcome says how a run, or one request, ended. The list is closed.
type Outcome string

// The outcomes.
const (
	OK            Outcome = "ok"
	Timeout       Outcome = "timeout"        // the time limit came while data still moved
	Stalled       Outcome = "stalled"        // the limit or an error came after the wire had been silent with something owed
	Refused       Outcome = "refused"        // the server would not: connection refused, or an HTTP error status
	Reset         Outcome = "reset"          // the connection ended before the work was done
	Corrupt       Outcome = "corrupt"        // the bytes were not the ones the server sent
	WrongProtocol Outcome = "wrong-protocol" // another protocol was spoken than the one asked for
	Unsupported   Outcome = "unsupported"    // this stack cannot do it
	Invalid       Outcome = "invalid"        // the lab itself was too late, too busy, or broke
)

// Outcomes lists all outcomes in the order in which reports name them.
func Outcomes() []Outcome {
	return []Outcome{OK, Timeout, Stalled, Refused, Reset, Corrupt, WrongProtocol, Unsupported, Invalid}
}
