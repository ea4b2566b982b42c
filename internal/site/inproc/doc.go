// Package inproc is the sites process and virtual: the two hosts of a run as
// two user-space TCP/IP stacks (gVisor's netstack) in one process, joined by
// the link model and watched by the witness.
//
// In go a run, a server and a client; out come the client's report and the
// facts that the wire showed. The same code is both sites. Built plainly it
// runs in real time, on any operating system and without privileges. Built with
//
//	CGO_ENABLED=0 go build -tags faketime
//
// it runs in the Go runtime's virtual time: when every goroutine waits, time
// jumps to the next timer, and the processor costs nothing.
//
// Rules for what runs on the hosts in virtual time: nothing blocks in a system
// call while a run goes on, or time stands still; nothing waits in a busy loop,
// or time never comes; the process has GOMAXPROCS=1.
//
// Properties that an edit must keep:
//   - a packet is offered to the link at the time at which the stack sends it,
//     in the order of sending, and delivered at the very time that the link
//     said, in the link's order (in real time: as soon after as the runtime's
//     timers allow, and the lateness is measured);
//   - no packet is lost but by the link, and no packet is unseen by the witness;
//   - a stack never sees the same time twice (see clock);
//   - what a stack draws by chance follows from the run's seed alone;
//   - nothing of a run is left after Close: no goroutine, no timer.
//
// Not modelled: the processor's time; ECN; segmentation offload; another
// congestion control than reno and cubic, since netstack has no other; another
// initial window than ten segments, but in the rebuilt worker (see rebuilt.go);
// reordering, to which netstack's TCP reacts much worse than a kernel's.
package inproc
