// Package peer runs servers and clients as processes of the emulated hosts.
//
// In go the configurations of a run; out come readiness, reports and what a
// program says of itself. For now there is one peer: samewire itself, started
// as `samewire serve --lab` and `samewire get --lab`, exactly as a foreign
// program would be, so that CPU time is accounted for each side.
//
// The two ends of the conversation with such a process stand here side by
// side: Talk is the lab's end, ServeLab and GetLab are the program's. A
// conversation is lines of JSON on standard input and output:
//
//	serve: ← ServerConfig   → {"ready":true}   ← "side" → {"side":…}   ← end of input: stop
//	get:   ← ClientConfig   → {"ready":true}   ← "go"   → {"report":…}   ← end of input: stop
//
// Not modelled: hosts and processes themselves (site/kernel).
package peer
