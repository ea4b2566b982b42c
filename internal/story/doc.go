// Package story tells what happened in one run, packet by packet.
//
// In go the record of a run and, where a capture of it was kept, the reading of
// that capture; out comes the story as text for a person, as JSON for a program,
// or as a sequence diagram in SVG. The package is pure: width and colours are
// arguments.
//
// Text that came out of packets (names, reasons of a close) is hostile until it
// went through clean: no control character reaches a terminal or a file raw.
//
// Not told: the content of requests and responses.
package story
