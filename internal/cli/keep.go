package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/samewire/samewire/internal/lab"
	"github.com/samewire/samewire/internal/runner"
	"github.com/samewire/samewire/internal/store"
	"github.com/samewire/samewire/internal/wire"
	"github.com/samewire/samewire/internal/wire/pcapng"
)

// witnessed are hosts that have the packets of their run.
type witnessed interface {
	Capture() *wire.Capture
	QLogs() []lab.QLog
}

// keeper keeps captures and qlogs in the record folder, as an order wants.
type keeper struct{}

// Keep implements runner.Keeper.
func (keeper) Keep(order lab.Order, hosts runner.Hosts, record lab.Record) *lab.Kept {
	seen, ok := hosts.(witnessed)
	if !ok || !order.Keep.Wants(record) {
		return nil
	}
	kept := &lab.Kept{QLogs: []string{}}
	err := keepCapture(order, seen.Capture(), kept)
	places := map[string]int{}
	for _, q := range seen.QLogs() {
		places[q.Side]++
		name := store.QLogFile(order.Run.ID, order.Attempt, q.Side, places[q.Side], qlogKind(q.Name))
		e := store.KeepFile(order.Keep.Dir, name, func(w io.Writer) error { _, err := w.Write(q.Data); return err })
		if e == nil {
			kept.QLogs = append(kept.QLogs, name)
		}
		err = errors.Join(err, e)
	}
	if err != nil {
		kept.Error = oneLine(err)
	}
	return kept
}

func keepCapture(order lab.Order, c *wire.Capture, kept *lab.Kept) error {
	if c == nil {
		return errors.New("keep capture: the load ended before it was taken")
	}
	named := *c
	named.Name = captureName(order)
	file := store.CaptureFile(order.Run.ID, order.Attempt)
	if err := store.KeepFile(order.Keep.Dir, file, func(w io.Writer) error { return pcapng.Write(w, &named) }); err != nil {
		return err
	}
	kept.Capture = file
	return nil
}

// captureName tells what was captured.
func captureName(order lab.Order) string {
	cell := order.Run.Cell
	return fmt.Sprintf("samewire run %s, attempt %d: path %s, load %s, %s, site %s, server %s, client %s, TLS %s",
		order.Run.ID, order.Attempt, cell.Path.Name, cell.Load.Name, cell.Protocol, cell.Site,
		cell.Stack.Server, cell.Stack.Client, cell.Stack.TLS)
}

var plainKind = regexp.MustCompile(`^\.[a-z]{1,8}$`)

// qlogKind is the extension under which a qlog is kept: the program's own.
func qlogKind(name string) string {
	if ext := filepath.Ext(name); plainKind.MatchString(ext) {
		return ext
	}
	return ".qlog"
}

// keepOf is what --keep says of the runs of a record folder.
func keepOf(rule string, dir string) (lab.Keep, error) {
	full, err := filepath.Abs(dir) // workers need not stand where samewire does
	if err != nil {
		return lab.Keep{}, fmt.Errorf("find record folder: %w", err)
	}
	return lab.Keep{Rule: lab.KeepRule(rule), Dir: full}, nil
}

// checkKeep says whether --keep can be understood.
func checkKeep(rule string) error {
	if !slices.Contains(lab.KeepRules(), lab.KeepRule(rule)) {
		return fmt.Errorf("--keep %q: want all, failed or none", rule)
	}
	return nil
}

// keptWarnings says what could not be kept.
func keptWarnings(records []lab.Record) []string {
	n, first := 0, ""
	for _, r := range records {
		if r.Kept != nil && r.Kept.Error != "" {
			if n++; n == 1 {
				first = r.Kept.Error
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the packets or qlogs of %s could not be kept; what was measured counts all the same. The first: %s", plural(n, "run", "runs"), first)}
}
