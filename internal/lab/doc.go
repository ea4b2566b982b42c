// Package lab holds the nouns of samewire: Study, Path, Load, Stack, Site,
// Cell, Run, Sample and Record, and the small notations in which people write
// them ("rtt 40ms rate 100mbit loss 1%").
//
// In go plain values, text and byte slices; out come the same values, checked.
// The package is pure: it imports nothing of samewire, reads no clock, file,
// socket or global random number. Everything that another floor needs to agree
// on (the content of a response body, the certificate authority of a study,
// how a seed is derived) is a function here, of its arguments only.
//
// Not modelled here: how a path behaves (package link), how a study is
// resolved into runs (package plan), what packets mean (package wire).
package lab

// Version is samewire's own version, as recorded in every study folder.
const Version = "0.1.0"

// FormatVersion numbers the format of the record folder. A reader refuses a
// folder with a higher number.
const FormatVersion = 2
