package worker

import (
	"os"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// TestNothingTemporaryStays holds that what a worker left among the temporary
// files, such as a run's secrets, goes with it: also when it is killed.
func TestNothingTemporaryStays(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	entries := func() int {
		all, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	for _, id := range []string{"fine", "kill", "hang"} {
		p := pool(t, "work", 1)
		p.Carry(t.Context(), lab.Run{ID: id})
		if want := map[string]int{"fine": 1}[id]; entries() != want {
			t.Errorf("after %s there are %d folders, want %d", id, entries(), want)
		}
		p.Close()
		if entries() != 0 {
			t.Errorf("after %s and the end: %d folders", id, entries())
		}
	}
}
