package lab

import "runtime/debug"

// folderVersion is the version of a module that a folder replaces. What is in the
// folder are sources of the version that was asked for, changed.
const folderVersion = "(devel)"

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
		version := m.Version
		if m.Replace != nil && m.Replace.Version != folderVersion {
			version = m.Replace.Version
		}
		name += " (quic-go " + version + ")"
	}
	return name
}
