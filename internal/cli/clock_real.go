//go:build !faketime

package cli

// virtualClock says that this program was built with virtual time.
const virtualClock = false
