package cli

import "fmt"

// plural writes a number with its word.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// howMany says how many arguments there are, for an error.
func howMany(args []string) string {
	if len(args) == 0 {
		return "no argument"
	}
	return plural(len(args), "argument", "arguments")
}
