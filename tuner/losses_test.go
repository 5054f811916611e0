package tuner_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// storm is a fleet whose workers are lost all the time, in virtual time, and started
// again by somebody.
type storm struct {
	*history
	machines []machine

	takes   time.Duration // an evaluation, on average
	life    time.Duration // of a worker, whatever it does, on average
	outages time.Duration // between the losses of all workers, on average; 0: there are none
	kills   time.Duration // and between those of the coordinator
	broken  int           // the first so many machines end each worker that evaluates
	breaks  int           // so many more do so once a fifth of the trials has been evaluated, for an hour
	poison  int64         // a configuration that ends each worker that evaluates it; -1: none

	deaths int // of those
	broke  time.Time
}

// machine is where a worker runs, and runs again when it was lost.
type machine struct {
	*client
	up   time.Time // it is down until then
	over time.Time // when its evaluation is
	call time.Time // when it calls at the latest
}

// mostDeaths is how many workers a configuration may end: two that hold others too,
// and so many as weigh the least alone.
const mostDeaths = 2 + 60

func newStorm(t *testing.T, seed uint64, size int64) *storm {
	s := &storm{history: newHistory(t, seed, tunertest.Bundle{Size: size}, shipped), machines: make([]machine, 4), poison: -1}
	for i := range s.machines {
		s.lose(i)
	}
	return s
}

// last runs the storm until the sweep has ended.
func (s *storm) last(t *testing.T) {
	t.Helper()
	for began := s.now; len(s.ledger.Live()) > 0; s.second() {
		if s.now.Sub(began) > 30*24*time.Hour {
			s.fatalf("the sweep does not end")
		}
	}
}

// happens draws whether in a second happens what does so once in so long.
func (s *storm) happens(every time.Duration) bool {
	return every > 0 && s.rng.Float64() < -math.Expm1(-time.Second.Seconds()/every.Seconds())
}

// drawn is a time that is mean on average.
func (s *storm) drawn(mean time.Duration) time.Duration {
	return time.Duration(s.rng.ExpFloat64() * float64(mean))
}

// lose ends a machine's worker, which comes back after a while.
func (s *storm) lose(i int) {
	up := s.now.Add(s.drawn(10 * time.Second))
	c := s.start(i)
	c.worker.Slots, c.worker.Labels = 1, map[string]string{"host": fmt.Sprint("node", i)}
	s.machines[i] = machine{c, up, up, up}
}

// second is one second of the fleet.
func (s *storm) second() {
	s.now = s.now.Add(time.Second)
	s.ledger.Enter(s.now)
	s.commit()
	if s.happens(s.kills) {
		s.crash()
	}
	all := s.happens(s.outages)
	for i := range s.machines {
		if all || s.happens(s.life) {
			s.lose(i)
		} else if !s.now.Before(s.machines[i].up) {
			s.turn(i)
		}
	}
}

// turn has a machine finish its evaluation, if that is over, and call.
func (s *storm) turn(i int) {
	m := &s.machines[i]
	work := m.holds()
	switch {
	case len(work) > 0 && !s.now.Before(m.over):
		g := work[0]
		if g.Index == s.poison {
			s.deaths++
		}
		if g.Index == s.poison || i < s.broken || i < s.breaks && s.breaking() {
			s.lose(i)
			return
		}
		o := s.outcome(g)
		m.reports = append(m.reports, tuner.Report{Held: g.Held, Outcome: &o})
		delete(m.held, g.Key)
	case s.now.Before(m.call):
		return
	}
	in := tuner.Sync{Worker: m.worker, Want: 3, Reports: m.reports}
	for _, g := range m.holds() {
		in.Held = append(in.Held, g.Held)
	}
	reply, err := s.ledger.Synchronize(&in)
	if err != nil {
		s.fatalf("%v", err)
	}
	s.commit()
	s.told(m.client, &in, reply)
	s.receive(m.client, reply)
	m.call = s.now.Add(reply.Next)
	if len(work) == 0 || !s.now.Before(m.over) {
		m.over = s.now.Add(s.drawn(s.takes))
	}
}

// breaking reports whether it is the hour in which machines are broken.
func (s *storm) breaking() bool {
	if sweep, live := s.ledger.Sweep(s.num); s.broke.IsZero() && live && sweep.Counts.Done*5 > sweep.Counts.Asked {
		s.broke = s.now
	}
	return !s.broke.IsZero() && s.now.Sub(s.broke) < time.Hour
}

// However often workers are lost, alone and together, and whatever the coordinator
// has forgotten of it, no configuration is given up that is not to blame; one that is
// has ended a bounded number of workers by then.
func TestStorms(t *testing.T) {
	base := tunertest.Seed(t)
	for name, set := range map[string]func(*storm){
		"preemption":                    func(s *storm) { s.takes, s.life = 20*time.Second, 10*time.Minute },
		"short lives":                   func(s *storm) { s.takes, s.life = 5*time.Second, time.Minute },
		"short lives, long evaluations": func(s *storm) { s.takes, s.life = time.Minute, 3*time.Minute },
		"outages":                       func(s *storm) { s.takes, s.life, s.outages = 20*time.Second, time.Hour, 3*time.Minute },
		"coordinators killed":           func(s *storm) { s.takes, s.life, s.kills = 30*time.Second, time.Minute, time.Minute },
		"broken machines":               func(s *storm) { s.takes, s.life, s.broken = 10*time.Second, time.Hour, 3 },
		"all break for an hour":         func(s *storm) { s.takes, s.life, s.breaks = 10*time.Second, time.Hour, 4 },
		"calm":                          func(s *storm) { s.takes, s.life = 10*time.Second, 24*time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			worst := 0
			for i := range uint64(tunertest.Times(6, 300)) {
				s := newStorm(t, base+i, 60)
				if set(s); i%2 == 1 {
					s.poison = int64(s.rng.IntN(60))
				}
				s.last(t)
				for r := range s.results() {
					if r.Abandoned != (r.Index == s.poison) {
						s.fatalf("configuration %d, where %d is to blame: given up %v, %s", r.Index, s.poison, r.Abandoned, r.Outcome.Message)
					}
				}
				worst = max(worst, s.deaths)
			}
			t.Logf("a configuration that ends workers has ended %d at most", worst)
			if worst > mostDeaths {
				t.Errorf("one configuration has ended %d workers", worst)
			}
		})
	}
}

// A machine that ends whatever evaluates is all that is left, and begins with what is
// known before it is given what others were lost with: it is set aside.
func TestLastMachineIsBroken(t *testing.T) {
	d := newDesk(t, 12)
	first := d.call(0, tuner.Sync{Worker: alice, Want: 1}).Grants
	d.call(0, tuner.Sync{Worker: alice, Reports: []tuner.Report{done(first[0])}})
	d.call(0, tuner.Sync{Worker: alice, Draining: true})
	aside := false
	for i := range 200 {
		d.call(20*time.Second, tuner.Sync{Worker: tunertest.Worker("doomed", uint64(i), 1), Want: 1})
		for range 3 {
			d.now = d.now.Add(8 * time.Second)
			d.l.Enter(d.now)
		}
		aside = aside || len(d.l.SetAside()) == 1
		if n := d.counts(1); n.Abandoned > 0 {
			t.Fatalf("after %d: %+v", i, n)
		}
	}
	d.finishAll(alice)
	if s := d.ended(); s.Counts.Done != 12 || !aside {
		t.Errorf("the broken machine was set aside: %v, %+v", aside, s.Counts)
	}
}

// A configuration that ends workers of which nothing else is known is given up too,
// and tried again when a worker of another host comes; where more is known it is not.
func TestUnsureVerdictsAreTriedAgain(t *testing.T) {
	for size, again := range map[int64]int{1: 1, 60: 0} {
		s := newStorm(t, tunertest.Seed(t), size)
		s.takes, s.life, s.poison = 10*time.Second, 24*time.Hour, size/2
		s.last(t)
		if s.deaths < 5 || s.deaths > mostDeaths {
			t.Errorf("%d workers were lost to one of %d configurations", s.deaths, size)
		}
		w := tunertest.Worker("fresh", 1, 1)
		w.Labels = map[string]string{"host": "another"}
		if _, err := s.ledger.Synchronize(&tuner.Sync{Worker: w}); err != nil {
			t.Fatal(err)
		}
		if n := len(s.ledger.Retries()); n != again {
			t.Errorf("of %d configurations one was given up that ended %d workers: %d sweeps are tried again, want %d", size, s.deaths, n, again)
		}
	}
}
