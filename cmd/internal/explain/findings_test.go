package explain

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ideal"
)

// subject is a launch of 1000 CTAs of 512 threads on an H200, with what-ifs by gain.
func subject(t *testing.T, r simengine.Report, gains map[ideal.Set]float64) *Subject {
	t.Helper()
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	r.TimeUS, r.Occupancy, r.Waves = 1000, 1, 30
	s := &Subject{Report: &r, Arch: d, Threads: 512, CTAs: 1000}
	ideal.All.Each(func(m ideal.Set) {
		if g := gains[m]; g > 0 {
			s.WhatIfs = append(s.WhatIfs, evaluate.WhatIf{Without: m, TimeUS: 1000 / g, Gain: g, Bound: "latency"})
		}
	})
	for m, g := range gains {
		if strings.Contains(m.String(), ",") {
			s.WhatIfs = append(s.WhatIfs, evaluate.WhatIf{Without: m, TimeUS: 1000 / g, Gain: g, Bound: "dram"})
		}
	}
	return s
}

// Of remedies that are against each other the one that gains more stands, and the other says that it does not.
func TestRemediesDoNotContradict(t *testing.T) {
	for _, tt := range []struct{ launch, barriers float64 }{{1.3, 1.1}, {1.1, 1.3}} {
		all := findings(subject(t, simengine.Report{}, map[ideal.Set]float64{ideal.Launch: tt.launch, ideal.Barriers: tt.barriers}))
		if len(all) != 2 {
			t.Fatalf("%+v", all)
		}
		larger, smaller := "More work a thread", "CTAs of fewer than 512 threads"
		first, second := all[0].Remedy, all[1].Remedy
		if tt.barriers > tt.launch {
			larger, smaller = smaller, larger
		}
		if !strings.Contains(first, strings.TrimPrefix(larger, "More ")) || strings.Contains(first, "against") {
			t.Errorf("first: %s", first)
		}
		if !strings.Contains(second, smaller) || !strings.Contains(second, "would be against finding 1, which gains more") {
			t.Errorf("second: %s", second)
		}
	}
}

// A unit that is at its peak has a finding: with its gain, or with what binds at the same time.
func TestWhatBindsIsFound(t *testing.T) {
	for unit, m := range evaluate.UnitMechanisms {
		for _, gain := range []float64{1, 1.5} {
			r := simengine.Report{Bound: unit, Nearest: unit, Use: []simengine.Share{{Name: unit, Value: 0.97}, {Name: "issue", Value: 0.95}}}
			all := findings(subject(t, r, map[ideal.Set]float64{m: gain}))
			if len(all) == 0 || all[0].Gain != gain {
				t.Errorf("%s at its peak, %g times faster without: %+v", unit, gain, all)
			}
		}
	}
	if all := findings(subject(t, simengine.Report{Bound: "issue", Nearest: "issue", Use: []simengine.Share{{Name: "issue", Value: 0.97}}}, nil)); len(all) != 1 || all[0].Topic != topicCompute {
		t.Errorf("issue slots at their peak: %+v", all)
	}
}

// What another cost hides ranks by what it adds, and both say what they gain together; the gap between launches is last.
func TestHiddenCosts(t *testing.T) {
	s := subject(t, simengine.Report{}, map[ideal.Set]float64{ideal.Coalescing: 1.01, ideal.Latency: 1.2, ideal.DRAM: 1.25, ideal.Coalescing | ideal.Latency: 1.8})
	s.Report.TimeUS = 20
	all := findings(s)
	var topics []string
	for i := range all {
		topics = append(topics, all[i].Topic)
	}
	if got := strings.Join(topics, ", "); got != "coalescing, DRAM, latency, between launches" {
		t.Fatal(got)
	}
	if text := all[0].Sentence(); !strings.Contains(text, "If it were coalesced, nothing would be gained") || !strings.Contains(text, "With the latency of memory hidden too: 555.56 us, 1.80 times faster") {
		t.Error(text)
	}
	if !all[3].Outside || !strings.HasPrefix(all[3].Evidence, "not of this kernel") {
		t.Errorf("%+v", all[3])
	}
}
