// Command samewire compares HTTP/1.1, HTTP/2 and HTTP/3 over an emulated
// network. See `samewire --help`.
package main

import (
	"os"

	"github.com/samewire/samewire/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
