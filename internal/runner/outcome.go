package runner

import (
	"cmp"
	"fmt"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

// worst lists the ways in which a request can fail, the most telling first: a
// run is named after the first that any of its requests has.
var worst = []lab.Outcome{
	lab.WrongProtocol, lab.Corrupt, lab.Unsupported, lab.Timeout, lab.Stalled, lab.Reset, lab.Refused, lab.Invalid,
}

// judge says how a run ended, and why.
//
// Properties that an edit must keep: a run is ok only if every request is, and
// all of them are there; lateness and a starved program override every other outcome but
// the stack's own "unsupported", since nothing that such a lab saw can be believed.
func judge(run lab.Run, m measured) (lab.Outcome, string) {
	outcome, reason := fromRequests(run, m)
	if outcome == lab.Unsupported {
		return outcome, reason
	}
	if late := tooLate(run, m.facts.Lateness); late != "" {
		if outcome != lab.OK {
			late += "; besides, " + string(outcome) + ": " + reason
		}
		return lab.Invalid, late
	}
	if waited, starved := m.report.Starved(m.facts.Server, m.facts.Client); starved && run.Cell.Site != lab.Virtual {
		return lab.Invalid, fmt.Sprintf("the machine was too busy: a program waited %.1f s for a processor in a load of %.1f s; besides, %s",
			waited, m.report.Duration, cmp.Or(reason, string(outcome)))
	}
	return outcome, reason
}

func tooLate(run lab.Run, l lab.Lateness) string {
	if run.Cell.Site == lab.Virtual || !l.Beyond(run.Lateness) {
		return ""
	}
	return fmt.Sprintf("the lab was too late: 1 packet in 100 was delivered %.1f ms or more after it was due, and the latest %.0f ms (limits %s and ten times that)",
		l.P99*1000, l.Max*1000, run.Lateness)
}

func fromRequests(run lab.Run, m measured) (lab.Outcome, string) {
	if m.getErr != nil {
		return lab.Invalid, "the client failed: " + m.getErr.Error()
	}
	if m.report.Error != "" && len(m.report.Requests) == 0 {
		return lab.Invalid, "the client could not start: " + m.report.Error
	}
	if got, want := len(m.report.Requests), run.Cell.Load.Objects; got != want {
		return lab.Invalid, fmt.Sprintf("the client reported on %d of %d requests", got, want)
	}
	outcome, failed, first := worstOf(m.report.Requests)
	if outcome == lab.OK {
		return lab.OK, ""
	}
	reason := fmt.Sprintf("%d of %d requests failed; the first: %s", failed, len(m.report.Requests), first)
	if silence := quiet(run.Cell.Path); stallable(outcome) && m.facts.Wire.Silence > silence.Seconds() && stalledAtLast(m, silence) {
		return lab.Stalled, fmt.Sprintf("the wire was silent for the last %.2f s (%s); %s", m.facts.Wire.Silence, outcome, reason)
	}
	return outcome, reason
}

// stalledAtLast says whether one of the stalls reached the load's end. Nothing may
// have been offered for long, and yet the wire was not silent: on a slow link
// packets were still under way. Where stalls are not known it is true.
func stalledAtLast(m measured, silence time.Duration) bool {
	stalls := m.facts.Wire.Stalls
	for _, s := range stalls {
		if !s.Ended || s.At+s.Length >= m.report.Duration-silence.Seconds() {
			return true
		}
	}
	return stalls == nil
}

// quiet is how long the wire may be silent before that is a stall.
func quiet(p lab.Path) time.Duration { return max(300*time.Millisecond, 3*p.RTT()) }

func stallable(o lab.Outcome) bool {
	return o == lab.Timeout || o == lab.Reset || o == lab.Refused
}

func worstOf(requests []lab.Request) (outcome lab.Outcome, failed int, first string) {
	outcome = lab.OK
	place := len(worst)
	for _, q := range requests {
		if q.Outcome == lab.OK {
			continue
		}
		if failed++; failed == 1 {
			first = string(q.Outcome)
			if q.Error != "" {
				first += ": " + q.Error
			}
		}
		for i, o := range worst[:place] {
			if o == q.Outcome {
				outcome, place = o, i
				break
			}
		}
		if outcome == lab.OK { // an outcome that is not on the list
			outcome = lab.Invalid
		}
	}
	return outcome, failed, first
}
