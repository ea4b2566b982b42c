package lab

import "runtime/debug"

// Program names samewire and the library whose version matters most to it,
// from what debug.ReadBuildInfo returns. A test's binary does not know its
// dependencies.
func Program(info *debug.BuildInfo, ok bool) string {
	name := "samewire " + Version
	if !ok {
		return name
	}
	for _, m := range info.Deps {
		if m.Path != "github.com/quic-go/quic-go" {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		name += " (quic-go " + m.Version + ")"
	}
	return name
}
