package wire

import "github.com/samewire/samewire/internal/lab"

// Stalls is for the tests that read captures of package pcapng.
func (r *Reading) Stalls(a About, f *lab.Wire) { r.stalls(a, f) }
