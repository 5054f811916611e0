package faults

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// The lease service is linearisable: whatever is killed and stopped, there is an
// order of all calls, each at one moment between its invocation and its response,
// in which every trial is a register that behaves as it should. Since that is a
// property of each object (Herlihy and Wing 1990, theorem 1), trials are looked at
// one by one, by porcupine.

// register is what is known of a trial: the newest grant of each of its two leases,
// and whether an outcome is stored. Leases that expire, and grants that nobody heard
// of, are not seen.
type register struct {
	first, second grant
	ended         bool
	by            string // whose outcome it is
}

type grant struct {
	token    uint64
	holder   string
	returned bool // by its holder: it is not renewed any more
}

// operation is what one call said and heard of a trial.
type operation struct {
	session string
	known   bool // a response came
	reports []reported
	held    []renewed
	granted []granted
	final   *final // instead: what is stored in the end
}

type reported struct {
	token           uint64
	second, outcome bool
	status          warptunev1.ReportStatus
}

type renewed struct {
	token        uint64
	second, kept bool
}

type granted struct {
	token  uint64
	second bool
}

type final struct {
	stored bool
	worker string
}

// step applies an operation to the register, in the coordinator's order; false: it
// is not what a register does.
func (r register) step(o *operation) (register, bool) {
	if o.final != nil {
		return r, r.ended == o.final.stored && (!r.ended || strings.HasPrefix(r.by, o.final.worker+"/"))
	}
	for _, report := range o.reports {
		g := &r.first
		if report.second {
			g = &r.second
		}
		mine := !r.ended && g.token == report.token && g.holder == o.session
		switch {
		case !o.known || report.status == warptunev1.ReportStatus_REPORT_STATUS_UNSPECIFIED: // it may have been done, if it could be
			if !mine {
				continue
			}
		case report.status == warptunev1.ReportStatus_REPORT_STATUS_RECORDED:
			if !mine {
				return r, false
			}
		case report.status == warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED:
			if !r.ended {
				return r, false
			}
			continue
		case report.status == warptunev1.ReportStatus_REPORT_STATUS_STALE:
			if r.ended {
				return r, false
			}
			continue
		default: // nothing else is ever said of what was granted in a sweep that goes on
			return r, false
		}
		if report.outcome {
			r.ended, r.by = true, o.session
		} else {
			g.returned = true
		}
	}
	for _, h := range o.held {
		g := &r.first
		if h.second {
			g = &r.second
		}
		if h.kept && (r.ended || g.token != h.token || g.holder != o.session || g.returned) {
			return r, false
		}
	}
	for _, n := range o.granted {
		g := &r.first
		if n.second {
			g = &r.second
		}
		again := g.token == n.token && g.holder == o.session && !g.returned
		if r.ended || !again && n.token <= g.token {
			return r, false
		}
		*g = grant{token: n.token, holder: o.session}
	}
	return r, true
}

var trialModel = porcupine.Model{
	Init: func() any { return register{} },
	Step: func(state, input, _ any) (bool, any) {
		next, ok := state.(register).step(input.(*operation))
		return ok, next
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", *input.(*operation)) },
}

// byTrial takes exchanges apart into what each says of each trial. Of calls without a
// response that report the same the first is enough: it may be done at any time after
// it, and once it is done the others do nothing. Without a report they do nothing.
func byTrial(all []exchange) map[trial][]porcupine.Operation {
	histories, repeated := map[trial][]porcupine.Operation{}, map[string]bool{}
	slices.SortStableFunc(all, func(a, b exchange) int { return cmp.Compare(a.from, b.from) })
	clients := map[string]int{}
	for i := range all {
		e := &all[i]
		if _, ok := clients[e.session]; !ok {
			clients[e.session] = len(clients)
		}
		for of, o := range e.operations() {
			if what := fmt.Sprint(of, o.session, o.reports); !o.known {
				if repeated[what] || len(o.reports) == 0 {
					continue
				}
				repeated[what] = true
			}
			histories[of] = append(histories[of], porcupine.Operation{ClientId: clients[e.session], Input: o, Call: e.from, Return: e.to})
		}
	}
	return histories
}

func (e *exchange) operations() map[trial]*operation {
	ops := map[trial]*operation{}
	of := func(c claim) (o *operation, second bool) {
		t, second, ok := c.trialOf()
		if !ok {
			return &operation{}, false // nobody looks at it
		}
		if ops[t] == nil {
			ops[t] = &operation{session: e.session, known: e.to != unanswered}
		}
		return ops[t], second
	}
	statuses, dropped := map[claim]warptunev1.ReportStatus{}, map[claim]bool{}
	for _, h := range e.heard {
		switch h.What {
		case "acknowledged":
			statuses[h.claim] = h.Status
		case "dropped":
			dropped[h.claim] = true
		}
	}
	for _, s := range e.said {
		o, second := of(s.claim)
		if s.Reports {
			o.reports = append(o.reports, reported{s.Token, second, s.Outcome, statuses[s.claim]})
		} else {
			o.held = append(o.held, renewed{s.Token, second, e.to != unanswered && !dropped[s.claim]})
		}
	}
	for _, h := range e.heard {
		if h.What == "granted" {
			o, second := of(h.claim)
			o.granted = append(o.granted, granted{h.Token, second})
		}
	}
	return ops
}

// linearisable checks the histories in a folder against the register, and what is
// stored of the sweep in the end.
func linearisable(t *testing.T, dir string, s *sweep) {
	t.Helper()
	all := exchanges(t, dir)
	histories := byTrial(all)
	end := slices.MaxFunc(all, func(a, b exchange) int { return cmp.Compare(a.from, b.from) }).from + int64(time.Hour)
	st := open(t, s.path)
	for _, r := range results(t, st, s.num) {
		of := trial{s.num, r.Seq}
		histories[of] = append(histories[of], porcupine.Operation{Input: &operation{final: &final{!r.Abandoned, r.Worker}}, Call: end, Return: end + 1})
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	calls, wrong, heard := 0, 0, map[string]int{}
	for i := range all {
		if all[i].to == unanswered {
			heard["unanswered"]++
		}
		for _, h := range all[i].heard {
			heard[strings.TrimPrefix(h.What+" "+h.Status.String(), "acknowledged REPORT_STATUS_")]++
		}
	}
	for of, history := range histories {
		calls += len(history)
		if result := porcupine.CheckOperationsTimeout(trialModel, history, patience); result != porcupine.Ok {
			if wrong++; wrong > 3 {
				continue
			}
			slices.SortFunc(history, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
			var text strings.Builder
			for _, o := range history {
				fmt.Fprintf(&text, "%d to %d: %+v\n", o.Call, o.Return, *o.Input.(*operation))
			}
			t.Errorf("trial %v: no order explains (%s):\n%s", of, result, &text)
		}
	}
	t.Logf("%d calls, %d operations on %d trials; %d of them wrong; %v", len(all), calls, len(histories), wrong, heard)
}

// Workers and the coordinator are killed, the coordinator also within commits. Workers are stopped for longer than
// their leases last, so that others are granted what they hold. All that anybody was told is what one register a
// trial could say.
func TestLinearisable(t *testing.T) {
	rounds := tunertest.Times(12, 150)
	s := newSweep(t, filepath.Join(t.TempDir(), "sweeps.db"), tunertest.Bundle{Size: int64(250 * rounds)})
	s.took, s.history, s.lease = 30*time.Millisecond, t.TempDir(), 700*time.Millisecond
	rng := tunertest.Rand(t)
	d := &deaths{rng: rand.New(rand.NewPCG(rng.Uint64(), 2))}
	f := s.fleet(t, never, func() (role, []string) {
		r := s.coordinator()
		r.Die = d.draw()
		return r, nil
	})
	for round := 0; round < rounds && !f.over(); round++ {
		victim := f.workers[rng.IntN(len(f.workers))].process()
		if victim == nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		switch rng.IntN(4) {
		case 0:
			victim.signal(syscall.SIGKILL)
		case 1:
			if p := f.coordinator.process(); p != nil {
				p.signal(syscall.SIGKILL)
			}
		default:
			victim.signal(syscall.SIGSTOP)
			time.Sleep(s.lease + time.Duration(rng.IntN(600))*time.Millisecond)
			victim.signal(syscall.SIGCONT)
		}
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	d.end()
	s.calm()
	if p := f.coordinator.process(); p != nil {
		p.signal(syscall.SIGKILL)
	}
	f.wait(t)
	linearisable(t, s.history, s)
	s.verdict(t)
}

// The checker finds what a register does not do.
func TestHistoriesThatAreNot(t *testing.T) {
	const (
		recorded = warptunev1.ReportStatus_REPORT_STATUS_RECORDED
		already  = warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED
		stale    = warptunev1.ReportStatus_REPORT_STATUS_STALE
	)
	at := int64(0)
	// call is a call after all those before it; lost, one without a response.
	call := func(session string, said []said, heard ...heard) exchange {
		at += 2
		return exchange{session, at, at + 1, said, heard}
	}
	lost := func(session string, said ...said) exchange {
		at += 2
		return exchange{session: session, from: at, to: unanswered, said: said}
	}
	on := func(token uint64) claim { return claim{1, 7, token} }
	gets := func(token uint64) heard { return heard{claim: on(token), What: "granted"} }
	reports := func(token uint64) []said { return []said{{on(token), true, true}} }
	holds := func(token uint64) []said { return []said{{claim: on(token)}} }
	told := func(token uint64, status warptunev1.ReportStatus) heard {
		return heard{on(token), "acknowledged", status}
	}
	drop := func(token uint64) heard { return heard{claim: on(token), What: "dropped"} }
	for name, c := range map[string]struct {
		sound   bool
		history []exchange
	}{
		"recorded":                             {true, []exchange{call("a/1", nil, gets(1)), call("a/1", reports(1), told(1, recorded))}},
		"recorded, and heard the second time":  {true, []exchange{call("a/1", nil, gets(1)), lost("a/1", reports(1)...), call("a/1", reports(1), told(1, already))}},
		"lost on the way":                      {true, []exchange{call("a/1", nil, gets(1)), lost("a/1", reports(1)...), call("a/1", reports(1), told(1, recorded))}},
		"expired and renewed":                  {true, []exchange{call("a/1", nil, gets(1)), call("a/1", holds(1)), call("a/1", reports(1), told(1, recorded))}},
		"fenced":                               {true, []exchange{call("a/1", nil, gets(1)), call("b/1", nil, gets(2)), call("a/1", reports(1), told(1, stale)), call("a/1", holds(1), drop(1)), call("b/1", reports(2), told(2, recorded))}},
		"granted, and nobody heard":            {true, []exchange{call("a/1", nil, gets(1)), lost("b/1"), call("a/1", reports(1), told(1, stale)), call("b/1", nil, gets(2))}},
		"recorded twice":                       {false, []exchange{call("a/1", nil, gets(1)), call("b/1", nil, gets(2)), call("b/1", reports(2), told(2, recorded)), call("a/1", reports(1), told(1, recorded))}},
		"a stale token is taken":               {false, []exchange{call("a/1", nil, gets(1)), call("b/1", nil, gets(2)), call("a/1", reports(1), told(1, recorded))}},
		"another's lease is renewed":           {false, []exchange{call("a/1", nil, gets(1)), call("b/1", holds(1))}},
		"a lease is renewed that is another's": {false, []exchange{call("a/1", nil, gets(1)), call("b/1", nil, gets(2)), call("a/1", holds(1))}},
		"a token twice":                        {false, []exchange{call("a/1", nil, gets(1)), call("b/1", nil, gets(1))}},
		"what was acknowledged is forgotten":   {false, []exchange{call("a/1", nil, gets(1)), call("a/1", reports(1), told(1, recorded)), call("b/1", nil, gets(2))}},
		"acknowledged before anybody said it":  {false, []exchange{call("a/1", nil, gets(1)), call("a/1", reports(1), told(1, already))}},
	} {
		histories := byTrial(c.history)
		if len(histories) != 1 {
			t.Errorf("%s: %d trials", name, len(histories))
		}
		for _, history := range histories {
			if got := porcupine.CheckOperations(trialModel, history); got != c.sound {
				t.Errorf("%s: it is linearisable: %v", name, got)
			}
		}
	}
}
