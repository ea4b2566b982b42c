package story

import (
	"fmt"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// stalls writes the autopsy of each stall.
func stalls(p *page, s Story) {
	if len(s.Facts.Stalls) == 0 {
		return
	}
	p.section("Stalls")
	const most = 10
	for i := range s.Facts.Stalls {
		if i == most {
			p.para("  ", fmt.Sprintf("… and %s; --json has all.", plural(len(s.Facts.Stalls)-i, "stall more", "stalls more")))
			return
		}
		if i > 0 {
			p.line("")
		}
		autopsy(p, s, i+1, &s.Facts.Stalls[i])
	}
}

func autopsy(p *page, s Story, n int, st *lab.Stall) {
	end := "it lasted to the end of the load"
	if st.Ended {
		end = "then packets came again"
	}
	p.para(fmt.Sprintf("  %d. ", n), fmt.Sprintf("%s of silence from %s on; %s. %s had been delivered; the %s spoke last, and the %s should have.",
		seconds(st.Length), seconds(st.At), end, bytesOf(st.Delivered), orElse(clean(st.LastSpoke), "client or server"),
		orElse(clean(st.ShouldAct), "one of them")))
	if st.Sentence != "" {
		p.painted("     ", sentence(st.Sentence), p.painter.bold)
	}
	if s.Reading != nil {
		last(p, s, st)
	}
	for _, o := range st.Owed {
		p.para("     owed: ", sentence(o))
	}
	for _, t := range st.Timers {
		fired := "did not fire"
		if t.Fired {
			fired = "fired"
		}
		why := ""
		if t.Why != "" {
			why = " (" + sentence(t.Why) + ")"
		}
		p.para("     timer: ", fmt.Sprintf("%s of the %s, due at %s, %s%s", clean(t.Name), clean(t.Side), seconds(t.Due), fired, why))
	}
	if len(st.Timers) == 0 {
		p.para("     timer: ", "none was due")
	}
}

// last has the last packets of each side before a stall.
func last(p *page, s Story, st *lab.Stall) {
	const most = 3
	r := s.Reading
	at := r.Capture.Start + time.Duration(st.At*float64(time.Second)) + time.Microsecond
	for _, d := range []lab.Direction{lab.Up, lab.Down} {
		var found []int
		for i := len(r.Events) - 1; i >= 0 && len(found) < most; i-- {
			if e := &r.Events[i]; e.Way == d && e.At <= at {
				found = append(found, i)
			}
		}
		for n := len(found) - 1; n >= 0; n-- {
			e := &r.Events[found[n]]
			title, parts := what(e, fewParts)
			text := row{title: title, parts: parts}.text()
			if !e.Delivered() {
				text += "; not delivered (" + lost(e) + ")"
			}
			p.para(fmt.Sprintf("     %s sent at %s ms: ", sender(d.String()), millis(e.At-r.Capture.Start)), text)
		}
	}
}
