package evaluate

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// What-ifs are of what a launch has to do with: of a saturated unit only what makes its work less, of what is not asked
// for none, of what warps do not wait for none.
func TestMechanismsThatConcern(t *testing.T) {
	line := func(uses ...simengine.MemoryUse) []simengine.SourceLine {
		return []simengine.SourceLine{{Line: "k.cu:1", WarpInstructions: 100, ThreadInstructions: 3200, ThreadInstructionsOn: 3200, Memory: uses}}
	}
	load := simengine.MemoryUse{Kind: "global load", Requests: 10, Sectors: 80, IdealSectors: 40, Wavefronts: 10, IdealWavefronts: 10, L2Bytes: 2560, DRAMReadBytes: 1000}
	conflicts := simengine.MemoryUse{Kind: "shared load", Requests: 10, Wavefronts: 20, IdealWavefronts: 10}
	update := simengine.MemoryUse{Kind: "global atomic", Requests: 10, SameAddress: 4}
	slots := []simengine.Share{{Name: "issued", Value: 0.5}, {Name: "long_scoreboard", Value: 0.5}}
	for _, tt := range []struct {
		name string
		r    simengine.Report
		want ideal.Set
	}{
		{"loads", simengine.Report{Lines: line(load), Slots: slots}, ideal.Coalescing | ideal.L1 | ideal.DRAM | ideal.Latency},
		{"conflicts", simengine.Report{Lines: line(load, conflicts), Slots: slots}, ideal.Coalescing | ideal.Banks | ideal.L1 | ideal.DRAM | ideal.Latency},
		{"nothing waits", simengine.Report{Lines: line(conflicts), Slots: slots[:1]}, ideal.Banks},
		{"saturated", simengine.Report{Lines: line(load, conflicts, update), Slots: slots, Bound: "atomics", Nearest: "atomics", Use: []simengine.Share{{Name: "atomics", Value: 1}}}, ideal.Atomics | ideal.L2Atomics},
		{"bound", simengine.Report{Lines: line(), Slots: slots[:1], Bound: "xu", Nearest: "xu", Use: []simengine.Share{{Name: "xu", Value: 0.9}}}, ideal.Pipes},
		{"spills", simengine.Report{Lines: line(), Slots: slots[:1], SpillBytes: 8, Limiter: "registers", Waves: 3}, ideal.Spills | ideal.Occupancy},
		{"one wave", simengine.Report{Lines: line(), Slots: slots[:1], Limiter: "registers", Waves: 1}, 0},
	} {
		c := concern{Report: &tt.r}
		c.count()
		var got ideal.Set
		for _, m := range append(c.mechanisms(), c.units(nil)...) {
			got |= m
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// What a unit costs is not asked for where what makes its work less says why it is busy.
func TestUnitsThatAreExplained(t *testing.T) {
	c := concern{Report: &simengine.Report{Bound: "lsu", Nearest: "lsu", Use: []simengine.Share{{Name: "lsu", Value: 0.9}}}}
	for gain, want := range map[float64]int{1.01: 1, 1.5: 0} {
		if got := c.units([]WhatIf{{Without: ideal.Banks, Gain: gain}}); len(got) != want {
			t.Errorf("bank conflicts gain %.2f: %v", gain, got)
		}
	}
}

// A wasteful mechanism that gains nothing is tried with what hides it, the two that gain most together, and what a CTA does
// once with the latency that more work hides; mechanisms of which one is part of the other are not.
func TestPairsThatHideEachOther(t *testing.T) {
	c := concern{Report: &simengine.Report{Lines: []simengine.SourceLine{{Memory: []simengine.MemoryUse{{Kind: "global store", Requests: 1, Sectors: 8, IdealSectors: 4}}}}}}
	c.count()
	single := []WhatIf{{Without: ideal.DRAM, Gain: 1.3}, {Without: ideal.Latency, Gain: 1.2}, {Without: ideal.Coalescing, Gain: 1.03}}
	if got := c.pairs(single); !slices.Equal(got, []ideal.Set{ideal.Coalescing | ideal.Latency, ideal.DRAM | ideal.Latency}) {
		t.Errorf("%v", got)
	}
	single = []WhatIf{{Without: ideal.Divergence, Gain: 1.3}, {Without: ideal.Banks, Gain: 1.2}, {Without: ideal.Spills, Gain: 1.01}}
	if got := c.pairs(single); !slices.Equal(got, []ideal.Set{ideal.Divergence | ideal.Banks}) {
		t.Errorf("%v", got)
	}
	single = []WhatIf{{Without: ideal.CTAWork, Gain: 1.7}, {Without: ideal.Launch, Gain: 1.2}}
	if got := c.pairs(single); !slices.Equal(got, []ideal.Set{ideal.CTAWork | ideal.Latency}) {
		t.Errorf("%v", got)
	}
	if w, other, ok := Paired([]WhatIf{{Without: ideal.Banks, Gain: 9}, {Without: ideal.Banks | ideal.Divergence, Gain: 2}}, ideal.Banks); !ok || other != ideal.Divergence || w.Gain != 2 {
		t.Errorf("%v with %s (%v)", w, other, ok)
	}
}

// What a CTA does once is asked for where CTAs make little of much, and there are many of them: of sums, not of copies or
// of matrix products.
func TestCTAWorkIsOfSums(t *testing.T) {
	for _, tt := range []struct {
		about                 string
		once, waves           float64
		stored, loaded, warps float64 // sectors of a CTA; its warps
		want                  bool
	}{
		{"a sum", 0.5, 60, 1, 64, 8, true},
		{"a copy", 0.5, 60, 64, 64, 8, false},
		{"a matrix product", 0.5, 60, 512, 64000, 16, false},
		{"a few CTAs", 0.5, 2, 1, 64, 8, false},
		{"nothing done once", 0, 60, 1, 64, 8, false},
	} {
		l := simengine.SourceLine{WarpInstructions: 100, Memory: []simengine.MemoryUse{{Kind: "global store", Requests: 1, IdealSectors: tt.stored}, {Kind: "global load", Requests: 1, IdealSectors: tt.loaded}}}
		l.Instructions = []simengine.LineInstruction{{OncePerCTA: true, Machine: []simengine.MachineInstruction{{WarpInstructions: 100 * tt.once}}}}
		c := concern{Report: &simengine.Report{Waves: tt.waves, Lines: []simengine.SourceLine{l}}, warps: tt.warps}
		c.count()
		if got := slices.Contains(c.mechanisms(), ideal.CTAWork); got != tt.want {
			t.Errorf("%s: %v", tt.about, got)
		}
	}
}
