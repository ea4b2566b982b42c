// Package runner carries out a plan.
//
// In go a lab.Plan and a Carrier for each site; out come Records, one for each
// run or attempt at it, handed to a Sink as runs end, and progress events for
// an Observer. Direct is the Carrier of a site whose hosts can be opened in
// this process: it is the one place where a run is set up, measured, torn down
// and described, the same on every site.
//
// Runs of one site go before those of the next, so that virtual time's hunger
// for CPU never disturbs a measurement in real time. Within a site the plan's
// order is kept. A Stopper may end repetitions early, and a Repeater add runs once
// a site's are done; neither is asked while runs are under way.
//
// Not done here: resolving studies (plan), keeping records on disk (store),
// statistics (stats), starting worker processes (site/worker).
package runner
