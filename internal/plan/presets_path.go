package plan

import (
	"fmt"
	"sync"

	"github.com/samewire/samewire/internal/lab"
)

// Where paths are from.
const (
	queueIsOurs = "; our choice: the queue, 4 MB, which is no limit for the loads of the presets"

	throttle = "sitespeed.io throttle, profile %s (its rtt is a round trip; WebPageTest's profile of that kind has twice as much)"
	// What throttle leaves to netem is a limit of 1000 packets: 30 s at 400
	// kbit/s.
	mobileQueue = "; our choice: the queue, one second, for the buffers of mobile networks are deep"
	accessQueue = "; our choice: the queue, 64 KiB as in a simple modem: room for any protocol's first flight, and at most 1.4 s (dsl, up)"
)

// pathPresets are the paths by name. The queue of the six networks is more than
// the largest load of the presets moves, so that it is never a limit: the
// study's own queue is not known to have been one.
var pathPresets = sync.OnceValue(func() []preset[lab.Path] {
	var out []preset[lab.Path]
	for _, p := range pathNotations() {
		path, err := ParsePath(p.name, p.value, nil)
		if err != nil {
			panic(fmt.Sprintf("plan: preset: %v", err))
		}
		out = append(out, preset[lab.Path]{p.name, p.description, p.source, path})
	}
	return out
})

func pathNotations() []preset[string] {
	list := []preset[string]{
		{"datacenter", "two machines side by side: no delay, no limit of rate",
			sixNetworks + "; our choice: RTT exactly 0", "rtt 0s"},
		{"wired", "a wired line inside one country: 40 ms, 100 Mbit/s, no loss",
			sixNetworks + queueIsOurs, "rtt 40ms rate 100mbit queue 4MB"},
		{"intercontinental", "across an ocean: 150 ms, 100 Mbit/s, no loss",
			sixNetworks + queueIsOurs + ", and the rate", "rtt 150ms rate 100mbit queue 4MB"},
		{"loss-1", "wired, with 1 % loss in each direction",
			sixNetworks + queueIsOurs + ", the RTT and the rate", "rtt 40ms rate 100mbit queue 4MB loss 1%"},
		{"loss-3", "wired, with 3 % loss in each direction",
			sixNetworks + queueIsOurs + ", the RTT and the rate", "rtt 40ms rate 100mbit queue 4MB loss 3%"},
		{"cell-edge", "the edge of a mobile cell: 100 ms, 100 Mbit/s, 5 % loss in each direction",
			sixNetworks + queueIsOurs + ", and the rate", "rtt 100ms rate 100mbit queue 4MB loss 5%"},
	}
	list = append(list, throttlePaths()...)
	return append(list,
		preset[string]{"lighthouse-mobile", "Lighthouse's mobile network, its \"slow 4G\": 150 ms, 1.6 Mbit/s down, 750 kbit/s up",
			"Lighthouse, docs/throttling.md and mobileSlow4G in core/config/constants.js, without the factors for DevTools " +
				"(the code has 1.6 × 1024 kbit/s down, 2 % more)" + mobileQueue,
			"rtt 150ms queue 1s up{rate 750kbit} down{rate 1600kbit}"},
		preset[string]{"satellite-geo", "a geostationary satellite: 600 ms, 25 Mbit/s down, 3 Mbit/s up, no loss",
			"samewire, our choice: light needs 477 ms for 4 × 35,786 km, the rest is waiting for a slot and the way on the ground; " +
				"rates as private customers have them; a queue of one bandwidth-delay product; no loss, for the coding hides it",
			"rtt 600ms queue 1bdp up{rate 3mbit} down{rate 25mbit}"},
		preset[string]{"wifi-busy", "a busy wireless network at home: 20 ms, 30 Mbit/s, delays that vary, 0.33 % loss in runs of three",
			"samewire, our choice: 30 Mbit/s is one station's part of the air; waiting for the air gives delays a long tail " +
				"(Pareto, 3 ms); repetitions on the air hide most losses, and what is left comes in runs; packets stay in order, " +
				"as the air's own sequence numbers keep them; a queue of 200 ms",
			"rtt 20ms jitter 3ms pareto in-order rate 30mbit queue 200ms loss gemodel 0.1% 30%"},
	)
}

// throttlePaths are the profiles of sitespeed.io's throttle (bin/index.js; fios
// is spelt fois there).
func throttlePaths() (list []preset[string]) {
	for _, p := range []struct{ name, description, queue, notation string }{
		{"3g", "a 3G network: 150 ms, 1.6 Mbit/s down, 768 kbit/s up", mobileQueue, "rtt 150ms queue 1s up{rate 768kbit} down{rate 1600kbit}"},
		{"3gfast", "a fast 3G network: 75 ms, 1.6 Mbit/s down, 768 kbit/s up", mobileQueue, "rtt 75ms queue 1s up{rate 768kbit} down{rate 1600kbit}"},
		{"3gslow", "a slow 3G network: 200 ms, 400 kbit/s", mobileQueue, "rtt 200ms rate 400kbit queue 1s"},
		{"4g", "a 4G network: 85 ms, 9 Mbit/s", mobileQueue, "rtt 85ms rate 9mbit queue 1s"},
		{"lte", "an LTE network: 35 ms, 12 Mbit/s", mobileQueue, "rtt 35ms rate 12mbit queue 1s"},
		{"cable", "a cable modem: 14 ms, 5 Mbit/s down, 1 Mbit/s up", accessQueue, "rtt 14ms queue 64KiB up{rate 1mbit} down{rate 5mbit}"},
		{"dsl", "a DSL line: 25 ms, 1.5 Mbit/s down, 384 kbit/s up", accessQueue, "rtt 25ms queue 64KiB up{rate 384kbit} down{rate 1500kbit}"},
		{"fios", "fibre to the home: 2 ms, 20 Mbit/s down, 5 Mbit/s up", accessQueue, "rtt 2ms queue 64KiB up{rate 5mbit} down{rate 20mbit}"},
	} {
		list = append(list, preset[string]{p.name, p.description, fmt.Sprintf(throttle, p.name) + p.queue, p.notation})
	}
	return list
}
