package pcapng

import (
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/wire"
)

// The names of the interfaces, by direction.
var interfaces = [2]pcapgo.NgInterface{
	lab.Up: {
		Name: "client-to-server", Description: "what the client sent, when it was offered to the link",
		LinkType: layers.LinkTypeRaw, TimestampResolution: 9,
	},
	lab.Down: {
		Name: "server-to-client", Description: "what the server sent, when it was offered to the link",
		LinkType: layers.LinkTypeRaw, TimestampResolution: 9,
	},
}

// Write writes a capture as a pcapng file.
func Write(w io.Writer, c *wire.Capture) error {
	out, err := pcapgo.NewNgWriterInterface(w, interfaces[lab.Up], pcapgo.NgWriterOptions{
		SectionInfo: pcapgo.NgSectionInfo{Application: "samewire " + lab.Version, Comment: sectionComment(c)},
	})
	if err == nil {
		_, err = out.AddInterface(interfaces[lab.Down])
	}
	if err == nil && len(c.Secrets) > 0 {
		err = out.WriteDecryptionSecretsBlock(pcapgo.DSB_SECRETS_TYPE_TLS, c.Secrets)
	}
	for i := 0; err == nil && i < len(c.Packets); i++ {
		before := 0
		if i == c.Gap {
			before = c.Skipped
		}
		err = writePacket(out, &c.Packets[i], before)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// writePacket writes one packet, before which some were not kept.
func writePacket(out *pcapgo.NgWriter, p *wire.Packet, before int) error {
	data := p.Data[:min(len(p.Data), max(p.Size, 0))]
	info := gopacket.CaptureInfo{
		Timestamp: time.Unix(0, int64(p.At)), InterfaceIndex: int(p.Way),
		CaptureLength: len(data), Length: max(p.Size, 0),
	}
	return out.WritePacketWithOptions(info, data, pcapgo.NgPacketOptions{Comments: packetComments(p, before)})
}
