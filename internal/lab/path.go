package lab

import (
	"encoding/json"
	"time"
)

// DefaultMTU is the largest IP packet of a path that names none, in bytes.
const DefaultMTU = 1500

// DefaultQueue is what waits for the rate where a path names no queue: netem's
// default limit, in packets.
const DefaultQueue = 1000

// Family is the IP version of a path.
type Family string

// The families. The empty Family means IPv4.
const (
	IPv4 Family = "ipv4"
	IPv6 Family = "ipv6"
)

// Path is the network between the two hosts, each direction on its own.
type Path struct {
	Name   string `json:"name"`
	Family Family `json:"family"` // empty means IPv4
	Up     Way    `json:"up"`     // client to server
	Down   Way    `json:"down"`   // server to client
}

// RTT is the path's round-trip time without queueing or serialisation.
func (p Path) RTT() time.Duration { return p.Up.Delay + p.Down.Delay }

// Way returns the direction d of the path.
func (p Path) Way(d Direction) Way {
	if d == Up {
		return p.Up
	}
	return p.Down
}

// Lossless says that no packet of the path is lost by chance. A queue can
// still overflow.
func (p Path) Lossless() bool { return p.Up.Loss == 0 && p.Down.Loss == 0 }

// Way is one direction of a path.
type Way struct {
	Delay time.Duration // one way, 0 or more
	Rate  Rate          // of IP bytes; 0 means unlimited
	Loss  float64       // share of wire packets lost independently, 0 to 1
	Queue Queue         // what may wait for the rate; zero means DefaultQueue packets
	MTU   int           // largest IP packet in bytes; 0 means DefaultMTU
}

// DeviceMTU is the MTU of the host's device that sends into the way, in bytes:
// an ordinary network's, or the way's own where that is larger. A host does not
// know of a smaller MTU farther on: dropping what is too large is the link's
// affair.
func (w Way) DeviceMTU() int { return max(w.MTU, DefaultMTU) }

// Queue is a limit on what waits for the rate. Exactly one field is set; the
// zero Queue means DefaultQueue packets. It has no meaning without a rate.
type Queue struct {
	Packets int
	Bytes   int64
	BDP     float64 // times rate × RTT of the path
}

type wayJSON struct {
	Delay string  `json:"delay"`
	Rate  string  `json:"rate"`
	Loss  float64 `json:"loss"`
	Queue string  `json:"queue"`
	MTU   int     `json:"mtu"`
}

// MarshalJSON writes a way with its units, as a path's author would.
func (w Way) MarshalJSON() ([]byte, error) {
	return json.Marshal(wayJSON{
		Delay: w.Delay.String(), Rate: w.Rate.String(), Loss: w.Loss, Queue: w.Queue.String(), MTU: w.MTU,
	})
}

// UnmarshalJSON reads what MarshalJSON wrote, without loss.
func (w *Way) UnmarshalJSON(b []byte) error {
	var j wayJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	delay, err := ParseDuration(j.Delay)
	if err != nil {
		return err
	}
	rate, err := ParseRate(j.Rate)
	if err != nil {
		return err
	}
	queue, err := ParseQueue(j.Queue)
	if err != nil {
		return err
	}
	*w = Way{Delay: delay, Rate: rate, Loss: j.Loss, Queue: queue, MTU: j.MTU}
	return nil
}
