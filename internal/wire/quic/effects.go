package quic

import (
	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire/tls"
)

// frameEffects takes from a packet's frames what later packets need: CRYPTO
// data, connection IDs, reset tokens.
func (c *Conn) frameEffects(d lab.Direction, p *Packet) {
	if p.Kind == Handshake && p.Opened && d == lab.Down {
		c.named(d, p.SCID)
	}
	for i := range p.Frames {
		f := &p.Frames[i]
		switch f.Kind {
		case Crypto:
			c.crypto(d, f, p)
		case NewConnectionID:
			c.addressed(other(d), f.ID)
			c.resetBy(d, f.Token)
		case Stream:
			if p.Kind == ZeroRTT {
				c.countEarly(f)
			}
		}
	}
}

var levels = map[Kind]tls.Level{Initial: tls.LevelInitial, Handshake: tls.LevelHandshake, OneRTT: tls.LevelApplication}

// crypto gives CRYPTO data to TLS as far as it is in order.
func (c *Conn) crypto(d lab.Direction, f *Frame, p *Packet) {
	level := levels[p.Kind]
	hello := c.Hello()
	client, suite := hello.ClientSize, hello.SuiteID
	room := c.streams[d][level].add(f.Offset, f.Data, func(data []byte) {
		c.keepHello(d, p, data)
		p.Messages = append(p.Messages, c.tls.Read(d, level, data)...)
	})
	if !room && p.Problem == "" {
		p.Problem = "its CRYPTO data is too far out of order to be kept"
	}
	if client == 0 && hello.ClientSize > 0 {
		c.learnt++
	}
	if suite == 0 && hello.SuiteID != 0 {
		c.chosen = p.Version
		c.learnt++
	}
	c.readParams()
}

// readParams reads transport parameters as soon as TLS has seen them.
func (c *Conn) readParams() {
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		raw := c.Hello().Params[d]
		if c.params[d] != nil || raw == nil {
			continue
		}
		p, _ := ReadParams(raw) // those before a bad one count
		c.params[d] = p
		if len(p.ResetToken) == 16 {
			c.resetBy(d, [16]byte(p.ResetToken))
		}
		if p.PreferredAddress != nil {
			c.addressed(other(d), p.PreferredAddress.ID)
			c.resetBy(d, p.PreferredAddress.ResetToken)
		}
	}
}

// maxEarlyStreams is of how many streams early data is counted.
const maxEarlyStreams = 4096

// countEarly counts early data, the first time each.
func (c *Conn) countEarly(f *Frame) {
	before, known := c.early[f.Stream]
	if !known && len(c.early) == maxEarlyStreams {
		return
	}
	if c.early == nil {
		c.early = map[uint64]uint64{}
	}
	if end := f.Offset + uint64(f.Length); end > before || !known {
		c.Hello().EarlyBytes += int64(end - before)
		c.early[f.Stream] = end
	}
}
