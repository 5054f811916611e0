package explain

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
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

// The second finding says what it gains together with the first: hardly more, more, or more than both by themselves.
func TestGainsOverlap(t *testing.T) {
	for _, tt := range []struct {
		both        float64
		want, never string
	}{
		{3.05, "Together with finding 1: 327.87 us, 3.05 times faster, hardly more than that by itself", "With coalesced"},
		{2.5, "Together with finding 1: 333.33 us, 3.00 times faster, hardly more", "With coalesced"}, // no slower than the first
		{6, "With coalesced accesses too: 166.67 us, 6.00 times faster", "Together with"},
	} {
		all := findings(subject(t, simengine.Report{}, map[ideal.Set]float64{ideal.Coalescing: 3, ideal.DRAM: 1.8, ideal.Coalescing | ideal.DRAM: tt.both}))
		if len(all) != 2 || all[0].WithFirst != nil {
			t.Fatalf("%+v", all)
		}
		if text := all[1].Sentence(); !strings.Contains(text, tt.want) || strings.Contains(text, tt.never) {
			t.Errorf("both %g: %s", tt.both, text)
		}
	}
	all := findings(subject(t, simengine.Report{}, map[ideal.Set]float64{ideal.Latency: 1.33, ideal.DRAM: 1.2, ideal.Latency | ideal.DRAM: 1.45}))
	if text := all[1].Sentence(); !strings.Contains(text, "Together with finding 1: 689.66 us, 1.45 times faster.") {
		t.Error(text)
	}
}

// What is done once a CTA stands for launching CTAs and for adding up their results, whose remedy is the same; where
// launching is all of it, launching is what is said.
func TestFewerCTAsIsSaidOnce(t *testing.T) {
	for _, tt := range []struct {
		gains map[ideal.Set]float64
		want  string
	}{
		{map[ideal.Set]float64{ideal.CTAWork: 2, ideal.Launch: 1.2}, "work of a CTA"},
		{map[ideal.Set]float64{ideal.CTAWork: 1.21, ideal.Launch: 1.2}, "launch"},
		{map[ideal.Set]float64{ideal.CTAWork: 6, ideal.L2Atomics: 4.8}, "atomics in L2"},
		{map[ideal.Set]float64{ideal.CTAWork: 1.5, ideal.Atomics: 3, ideal.L2Atomics: 4.8}, "global atomics, work of a CTA"},
	} {
		var topics []string
		for _, f := range findings(subject(t, simengine.Report{}, tt.gains)) {
			topics = append(topics, f.Topic)
		}
		if got := strings.Join(topics, ", "); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.gains, got, tt.want)
		}
	}
}

// Of register caps the fastest is named, the smallest of those that are as fast.
func TestWhichCap(t *testing.T) {
	s := subject(t, simengine.Report{SpillBytes: 100, Registers: 32}, map[ideal.Set]float64{ideal.Spills: 5})
	s.Caps = []evaluate.CapTrial{{Parameter: "cap=48", Cap: 48, TimeUS: 500, SpillBytes: 40}, {Parameter: "cap=64", Cap: 64, TimeUS: 250.5}, {Parameter: "cap=96", Cap: 96, TimeUS: 250}}
	if text := findings(s)[0].Sentence(); !strings.Contains(text, "A larger register cap (it is 32): cap=64 takes 250.50 us, 3.99 times faster (the fastest of 3 simulated)") {
		t.Error(text)
	}
	s.Caps = s.Caps[:1]
	if text := findings(s)[0].Sentence(); !strings.Contains(text, "cap=48 takes 500.00 us, 2.00 times faster, and still spills 40 bytes, or smaller tiles") {
		t.Error(text)
	}
	s.Caps = nil
	if text := findings(s)[0].Sentence(); !strings.Contains(text, "A larger register cap (it is 32), or smaller tiles") {
		t.Error(text)
	}
}

// What copies to shared memory move through L2 is said of them, and remedies of Triton's configurations are its parameters.
func TestCopiesAndTriton(t *testing.T) {
	line := func(name, kind string, bytes float64) simengine.SourceLine {
		return simengine.SourceLine{Line: name, StallWarpCycles: map[string]float64{"barrier": 10}, Memory: []simengine.MemoryUse{{Kind: kind, Requests: 1, L2Bytes: bytes}}}
	}
	r := simengine.Report{Limiter: "registers", Registers: 200, CTAsPerSM: 1, Lines: []simengine.SourceLine{line("a.py:1", "asynchronous copy", 60e6), line("a.py:2", "asynchronous copy", 40e6), line("a.py:3", "global store", 50e6)}}
	s := subject(t, r, map[ideal.Set]float64{ideal.L2Bandwidth: 1.3, ideal.Occupancy: 1.2, ideal.Barriers: 1.1})
	said := func() (text string) {
		for _, f := range findings(s) {
			text += f.Line + ": " + f.Evidence + ". " + f.Remedy + "\n"
		}
		return text
	}
	want := func(text string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%q is not in\n%s", w, text)
			}
		}
	}
	want(said(), "a.py:1: asynchronous copies to shared memory move 100 MB of the 150 MB that L2 moves, this line 60 MB", "Larger tiles", "maxrregcount", "Fewer barriers")
	s.Config = search.Config{Names: []string{"BLOCK", "num_warps", "num_stages"}, Values: []search.Value{search.OfInt(64), search.OfInt(8), search.OfInt(3)}}
	text := said()
	want(text, "maxnreg of triton.Config", "more warps a CTA (num_warps, now 8)", "Fewer warps a CTA (num_warps, now 8)")
	if strings.Contains(text, "maxrregcount") || strings.Contains(text, "two buffers") {
		t.Errorf("words of CUDA C++ for Triton:\n%s", text)
	}
	s.Report.Limiter = "shared_mem"
	want(said(), "fewer stages (num_stages, now 3)")
	s.Config.Values[2] = search.OfInt(1)
	if text := said(); strings.Contains(text, "fewer stages") {
		t.Errorf("fewer stages than one:\n%s", text)
	}
}
