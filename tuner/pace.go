package tuner

import "time"

// pace is how fast a sweep's trials are evaluated, as it is seen: for what is shown. The zero value has seen nothing.
type pace struct {
	at   []time.Time // ascending
	done []int64     // trials evaluated until then
}

const (
	paceEvery   = time.Second     // between two looks
	paceLooks   = 128             // that are kept
	rateOver    = 5 * time.Second // that a rate is of at least …
	rateOverMax = time.Minute     // … and at most
	rateResults = 8               // that a rate is of at least, if a minute has so many
	// paceChanges is by how many times the rate lately differs from that of the later half of all where it is not the same
	// rate any more. Eight results that come by chance are not that far off.
	paceChanges = 3
)

// note takes a look. Looks long ago are kept the more sparsely the longer.
func (p *pace) note(now time.Time, done int64) {
	if n := len(p.at); n > 0 && now.Sub(p.at[n-1]) < paceEvery {
		return
	}
	p.at, p.done = append(p.at, now), append(p.done, done)
	if len(p.at) <= paceLooks {
		return
	}
	kept := 1
	for i := 2; i < len(p.at); i++ {
		if i%2 == 0 || i > paceLooks/2 {
			p.at[kept], p.done[kept] = p.at[i], p.done[i]
			kept++
		}
	}
	p.at, p.done = p.at[:kept], p.done[:kept]
}

// since is the results and seconds since a look.
func (p *pace) since(i int) (results, seconds float64) {
	last := len(p.at) - 1
	return float64(max(p.done[last]-p.done[i], 0)), p.at[last].Sub(p.at[i]).Seconds()
}

// rate is results a second lately: over some seconds, and where results are rare over as many as it takes for a few.
func (p *pace) rate() float64 {
	for i := len(p.at) - 2; i >= 0; i-- {
		results, seconds := p.since(i)
		if i > 0 && seconds < rateOver.Seconds() || i > 0 && results < rateResults && p.at[len(p.at)-1].Sub(p.at[i-1]) <= rateOverMax {
			continue
		}
		return results / seconds
	}
	return 0
}

// left is how long so many more take, at the rate of the later half of the time seen; 0: not known. The first results
// take longer than others, as kernels are compiled for them, and a few say little: so it takes EnoughToTell of them, and a
// rate that is as it was.
func (p *pace) left(remaining int64) time.Duration {
	if len(p.at) < 2 || remaining <= 0 {
		return 0
	}
	last := len(p.at) - 1
	half := p.at[0].Add(p.at[last].Sub(p.at[0]) / 2)
	from := 0
	for p.at[from+1].Before(half) {
		from++
	}
	all, _ := p.since(0)
	results, seconds := p.since(from)
	if results == 0 || !EnoughToTell(int64(all), remaining+int64(all)) {
		return 0
	}
	if lately := p.rate() * seconds / results; lately > paceChanges || lately < 1.0/paceChanges {
		return 0 // it has just become another one
	}
	return time.Duration(float64(remaining) * seconds / results * float64(time.Second))
}

// EnoughToTell reports whether so many results of a total say how long the rest takes: a fiftieth of them, ten at least,
// and two hundred do for any total.
func EnoughToTell(done, total int64) bool { return done >= min(200, max(10, total/50)) }
