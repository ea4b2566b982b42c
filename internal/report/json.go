package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/samewire/samewire/internal/stats"
)

// JSON writes the output as scripts read it: one indented object, as
// docs/output.schema.json describes it.
func JSON(w io.Writer, out stats.Output) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
