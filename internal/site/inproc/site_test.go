package inproc

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/samewire/samewire/internal/lab"
)

func TestValidate(t *testing.T) {
	unpaced := lab.DefaultStack
	unpaced.Pacing = lab.PacingOff
	for _, test := range []struct {
		name        string
		site        lab.SiteName
		stack       lab.Stack
		family      lab.Family
		protocol    lab.Protocol
		unsupported bool
		words       []string // of the error; none: no error
	}{
		{name: "default", stack: lab.DefaultStack},
		{name: "named", site: lab.Process, stack: lab.DefaultStack, family: lab.IPv6},
		{name: "reno, window of the stack's own", stack: lab.Stack{CC: "reno"}},
		{name: "bbr", stack: lab.Stack{CC: "bbr"}, unsupported: true, words: []string{`"bbr"`, "cubic and reno"}},
		{name: "no cc", stack: lab.Stack{}, unsupported: true, words: []string{`""`, "cubic and reno"}},
		{name: "window", stack: lab.Stack{CC: "cubic", InitCwnd: 32}, unsupported: true, words: []string{"32 segments", "has 10"}},
		{name: "pacing off", stack: unpaced, protocol: lab.H3, unsupported: true, words: []string{`pacing "off"`, `has ""`, "no switch"}},
		{name: "pacing off, without QUIC", stack: unpaced, protocol: lab.H2},
		{name: "all at once", stack: lab.Stack{CC: "bbr", InitCwnd: 4}, family: "ipx", unsupported: true, words: []string{"bbr", "4 segments", "ipx"}},
		{name: "other build", site: lab.Virtual, stack: lab.DefaultStack, words: []string{"built for the site process"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := Site{Name: test.site, Server: plainServer{}, Client: clientFunc((&plainClient{}).get)}
			h, err := site.Open(t.Context(), lab.Run{Cell: lab.Cell{Path: lab.Path{Family: test.family}, Stack: test.stack, Protocol: test.protocol}})
			if err == nil {
				_ = h.Close()
			}
			if (err != nil) != (len(test.words) > 0) || errors.Is(err, lab.ErrUnsupported) != test.unsupported {
				t.Fatalf("error %v", err)
			}
			for _, w := range test.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q lacks %q", err, w)
				}
			}
		})
	}
}

// The name of a rebuilt program tells what is different in it.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		window int
		paced  bool
		want   string
	}{
		{32, true, "initial window 32"}, {10, false, "without pacing"},
		{4, false, "initial window 4, without pacing"}, {10, true, "nothing changed"},
	} {
		if got := changes(c.window, c.paced); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := programName("samewire"); got != "samewire" || InitCwnd() != stockCwnd || Pacing() != "" {
		t.Errorf("this program is named %q, and has an initial window of %d and pacing %q", got, InitCwnd(), Pacing())
	}
}

func TestOpenWhenDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	site := Site{Server: plainServer{}}
	if _, err := site.Open(ctx, job{}.run()); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
}
