package runner

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/samewire/samewire/internal/lab"
)

func request(o lab.Outcome) lab.Request { return lab.Request{Outcome: o, Error: "said so"} }

func TestJudge(t *testing.T) {
	const none = 0.0
	cases := []struct {
		name     string
		requests []lab.Request
		silence  float64
		late     float64
		getErr   error
		rtt      time.Duration
		want     lab.Outcome
	}{
		{"all ok", []lab.Request{request(lab.OK), request(lab.OK)}, none, 0, nil, 0, lab.OK},
		{"one request missing", []lab.Request{request(lab.OK)}, none, 0, nil, 0, lab.Invalid},
		{"one of two timed out", []lab.Request{request(lab.OK), request(lab.Timeout)}, 0.2, 0, nil, 0, lab.Timeout},
		{"silent for more than 300 ms", []lab.Request{request(lab.OK), request(lab.Timeout)}, 0.301, 0, nil, 0, lab.Stalled},
		{"silent for less than 3 RTT", []lab.Request{request(lab.OK), request(lab.Timeout)}, 0.59, 0, nil, 200 * time.Millisecond, lab.Timeout},
		{"silent for more than 3 RTT", []lab.Request{request(lab.OK), request(lab.Timeout)}, 0.61, 0, nil, 200 * time.Millisecond, lab.Stalled},
		{"an error after silence", []lab.Request{request(lab.Reset), request(lab.OK)}, 5, 0, nil, 0, lab.Stalled},
		{"silence without a fault", []lab.Request{request(lab.OK), request(lab.OK)}, 5, 0, nil, 0, lab.OK},
		{"corrupt is never a stall", []lab.Request{request(lab.Corrupt), request(lab.Timeout)}, 5, 0, nil, 0, lab.Corrupt},
		{"wrong protocol goes first", []lab.Request{request(lab.Timeout), request(lab.WrongProtocol)}, none, 0, nil, 0, lab.WrongProtocol},
		{"reset", []lab.Request{request(lab.Refused), request(lab.Reset)}, none, 0, nil, 0, lab.Reset},
		{"refused", []lab.Request{request(lab.Refused), request(lab.OK)}, none, 0, nil, 0, lab.Refused},
		{"unknown outcomes are not ok", []lab.Request{request("odd"), request(lab.OK)}, none, 0, nil, 0, lab.Invalid},
		{"the lab was late", []lab.Request{request(lab.OK), request(lab.OK)}, none, 0.011, nil, 0, lab.Invalid},
		{"the lab was late, and a failure", []lab.Request{request(lab.Reset), request(lab.OK)}, none, 0.011, nil, 0, lab.Invalid},
		{"the lab was in time", []lab.Request{request(lab.OK), request(lab.OK)}, none, 0.009, nil, 0, lab.OK},
		{"the client died", nil, none, 0, errors.New("killed"), 0, lab.Invalid},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			run := lab.Run{Lateness: 10 * time.Millisecond}
			run.Cell.Site = lab.Kernel
			run.Cell.Load.Objects = 2
			run.Cell.Path.Up.Delay, run.Cell.Path.Down.Delay = c.rtt/2, c.rtt/2
			m := measured{report: lab.Report{Requests: c.requests}, getErr: c.getErr}
			m.facts.Wire.Silence, m.facts.Lateness.P99 = c.silence, c.late
			got, reason := judge(run, m)
			if got != c.want {
				t.Errorf("got %s (%s), want %s", got, reason, c.want)
			}
			if (reason == "") != (got == lab.OK) {
				t.Errorf("outcome %s with reason %q", got, reason)
			}
		})
	}
}

// On a slow link nothing may be offered for long while packets are under way: the
// wire is silent only where the facts have a stall.
func TestStalledOnlyWithAStall(t *testing.T) {
	for _, tt := range []struct {
		stalls []lab.Stall
		want   lab.Outcome
	}{
		{nil, lab.Stalled}, // not known
		{[]lab.Stall{}, lab.Timeout},
		{[]lab.Stall{{At: 2, Length: 3, Ended: true}}, lab.Timeout},
		{[]lab.Stall{{At: 2, Length: 3, Ended: true}, {At: 19.4, Length: 0.6}}, lab.Stalled},
	} {
		run := lab.Run{}
		run.Cell.Load.Objects = 1
		m := measured{report: lab.Report{Duration: 20, Requests: []lab.Request{request(lab.Timeout)}}}
		m.facts.Wire.Silence, m.facts.Wire.Stalls = 0.6, tt.stalls
		if got, reason := judge(run, m); got != tt.want {
			t.Errorf("%+v: %s (%s), want %s", tt.stalls, got, reason, tt.want)
		}
	}
}

// A run whose program had no processor for most of the time is invalid, however
// it ended; a short wait is none.
func TestStarvedProgram(t *testing.T) {
	for _, tt := range []struct {
		waited, duration float64
		site             lab.SiteName
		want             lab.Outcome
	}{
		{40, 75, lab.Kernel, lab.Invalid},
		{37, 75, lab.Kernel, lab.OK},
		{0.9, 1, lab.Kernel, lab.OK},
		{40, 75, lab.Virtual, lab.OK},
	} {
		run := lab.Run{}
		run.Cell.Site, run.Cell.Load.Objects = tt.site, 1
		m := measured{report: lab.Report{Requests: []lab.Request{request(lab.OK)}, Duration: tt.duration}}
		m.facts.Server.Waited = &tt.waited
		if got, reason := judge(run, m); got != tt.want || (reason == "") != (got == lab.OK) {
			t.Errorf("waited %v s of %v s on %s: %s (%s), want %s", tt.waited, tt.duration, tt.site, got, reason, tt.want)
		}
	}
}

func TestLatenessKeepsTheOtherReason(t *testing.T) {
	run := lab.Run{Lateness: time.Millisecond}
	run.Cell.Load.Objects = 1
	m := measured{report: lab.Report{Requests: []lab.Request{request(lab.Reset)}}}
	m.facts.Lateness.P99 = 1
	if _, reason := judge(run, m); !strings.Contains(reason, "reset") {
		t.Errorf("reason %q hides that the run failed as well", reason)
	}
}

// What the lab saw of a program goes into the record, and does not take the place
// of what the program said of itself.
func TestMerge(t *testing.T) {
	cpu, waited, errors, buffer, window := 0.5, 0.25, 3, 4096, int64(1<<20)
	seen := lab.Side{Program: "seen", CPU: &cpu, Waited: &waited, UDPReceiveErrors: &errors, UDPReceiveBuffer: &buffer, Window: &window}
	got := merge(lab.Side{}, seen)
	seen.Senders = []lab.Sender{}
	if !reflect.DeepEqual(got, seen) {
		t.Errorf("have %+v, want %+v", got, seen)
	}
	own, less := 8192, int64(1<<10)
	got = merge(lab.Side{Program: "said", UDPReceiveBuffer: &own, Window: &less}, seen)
	if got.Program != "said" || got.UDPReceiveBuffer != &own || got.Window != &less || got.Waited != &waited {
		t.Errorf("have %+v", got)
	}
}
