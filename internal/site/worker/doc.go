// Package worker carries runs to worker processes and records back.
//
// A worker is samewire itself, run as `samewire worker --site NAME`. It reads
// one Run from standard input, carries it out, answers its Record on
// descriptor 3, and reads the next. While a run is carried out nothing in the
// worker blocks in a system call: in the build with virtual time (the
// faketime tag) the clock would stand still. Descriptors 1 and 2 carry the
// runtime's playback headers in that build, so nothing else is said on them.
//
// In go Runs; out come Records, also when the worker hangs, dies, or cannot be
// started: then the record says so. A worker ends when its standard input
// ends, and dies with its parent.
//
// The package also finds or builds the worker with virtual time (see Find).
package worker
