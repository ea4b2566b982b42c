package story

import (
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

// How many are left out is counted in what there is: the record's connections are
// counted otherwise.
func TestConversationsLeftOut(t *testing.T) {
	s := good()
	f := *s.Facts
	f.Connections = 6
	f.Conversations = make([]lab.Conversation, 10)
	s.Facts = &f
	if out := textOf(t, s, Options{Packets: None}); !strings.Contains(out, "… and 2 connections more") {
		t.Errorf("want 2 connections more, got\n%s", out)
	}
}
