package evaluate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// concern is what a launch has to do with mechanisms, by its report.
type concern struct {
	*simengine.Report
	memory   map[string]simengine.MemoryUse // by kind
	lanes    float64                        // share of lanes that are off
	once     float64                        // share of warp instructions that a CTA executes once
	warps    float64                        // of the grid
	barriers bool
}

// of the work of a unit, or of issue slots: what is less than negligible costs less than a finding is worth, and from
// plenty on a mechanism that costs nothing by itself is tried together with another that hides it.
const (
	negligible = 0.005
	unfelt     = 0.019 // of issue slots: with them all back a launch is less than 2 % faster
	plenty     = 0.25
)

// count sums what lines do.
func (c *concern) count() {
	c.memory = map[string]simengine.MemoryUse{}
	var warp, threads, once float64
	for _, l := range c.Lines {
		warp += l.WarpInstructions
		threads += l.ThreadInstructions
		for _, i := range l.Instructions {
			c.barriers = c.barriers || slices.ContainsFunc(i.Machine, func(m simengine.MachineInstruction) bool { return m.Kind == "barrier" })
			for _, m := range i.Machine {
				if i.OncePerCTA {
					once += m.WarpInstructions
				}
			}
		}
		for _, m := range l.Memory {
			k := c.memory[m.Kind]
			k.Requests += m.Requests
			k.Sectors, k.IdealSectors = k.Sectors+m.Sectors, k.IdealSectors+m.IdealSectors
			k.Wavefronts, k.IdealWavefronts = k.Wavefronts+m.Wavefronts, k.IdealWavefronts+m.IdealWavefronts
			c.memory[m.Kind] = k
		}
	}
	if warp > 0 {
		c.lanes = 1 - threads/(32*warp)
		c.once = once / warp
	}
}

// asked is the requests of kinds.
func (c *concern) asked(kinds ...string) (sum simengine.MemoryUse) {
	for _, kind := range kinds {
		k := c.memory[kind]
		sum.Requests += k.Requests
		sum.Sectors, sum.IdealSectors = sum.Sectors+k.Sectors, sum.IdealSectors+k.IdealSectors
		sum.Wavefronts, sum.IdealWavefronts = sum.Wavefronts+k.Wavefronts, sum.IdealWavefronts+k.IdealWavefronts
	}
	return sum
}

// waste is the share of what a mechanism makes of the work that it is of; 0 of those that make no work.
func (c *concern) waste(m ideal.Set) float64 {
	share := func(ideal, all float64) float64 {
		if all <= 0 {
			return 0
		}
		return math.Max(1-ideal/all, 0)
	}
	switch m {
	case ideal.Banks:
		k := c.asked("shared load", "shared store", "shared atomic")
		return share(k.IdealWavefronts, k.Wavefronts)
	case ideal.Coalescing:
		k, loads := c.asked("global load", "global store"), c.asked("global load")
		return math.Max(share(k.IdealSectors, k.Sectors), share(loads.IdealWavefronts, loads.Wavefronts))
	case ideal.Constants:
		k := c.asked("constant load")
		return share(k.IdealWavefronts, k.Wavefronts)
	case ideal.Divergence:
		return c.lanes
	case ideal.LocalArrays:
		if len(c.LocalArrays) > 0 {
			return 1
		}
	}
	return 0
}

// gathers reports whether CTAs make little of much: each stores no more than a sector a warp, and far less than it loads.
// CTAs that are fewer and load more each then do what they do once (ideal.OncePerCTA) less often.
func (c *concern) gathers() bool {
	const less, waves = 8, 4
	stored, loaded := c.asked("global store").IdealSectors, c.asked("global load", "asynchronous copy", "texture fetch").IdealSectors
	return c.once >= unfelt && c.Waves >= waves && stored <= c.warps && less*stored <= loaded
}

// share is a named share of a list.
func share(all []simengine.Share, names ...string) (sum float64) {
	for _, s := range all {
		if slices.Contains(names, s.Name) {
			sum += s.Value
		}
	}
	return sum
}

// waits reports whether issue slots are lost for reasons; at level model none is known.
func (c *concern) waits(reasons ...string) bool {
	return len(c.Slots) == 0 || share(c.Slots, reasons...) >= unfelt
}

// UnitMechanisms are the mechanisms that make a unit cost nothing, by timing.Bound's names: of issue slots there is none.
var UnitMechanisms = map[string]ideal.Set{
	"alu": ideal.Pipes, "fma": ideal.Pipes, "imad": ideal.Pipes, "fp64": ideal.Pipes, "half": ideal.Pipes, "tensor": ideal.Pipes, "xu": ideal.Pipes,
	"lsu": ideal.L1Bandwidth, "l2": ideal.L2Bandwidth, "atomics": ideal.L2Atomics, "dram": ideal.DRAM, "constant": ideal.Constants, "launch": ideal.Launch,
}

// Covers are the mechanisms that make a unit's work less or cheaper, by timing.Bound's names; of pipes and issue slots
// those that make instructions fewer.
var Covers = map[string]ideal.Set{
	"lsu":     ideal.Banks | ideal.Coalescing | ideal.SharedAtomics | ideal.Spills | ideal.LocalArrays | ideal.L1Bandwidth | ideal.Divergence,
	"l2":      ideal.Coalescing | ideal.L1 | ideal.Spills | ideal.LocalArrays | ideal.L2Bandwidth | ideal.Divergence,
	"atomics": ideal.Atomics | ideal.L2Atomics, "dram": ideal.DRAM | ideal.Coalescing | ideal.L1 | ideal.Spills | ideal.LocalArrays,
	"constant": ideal.Constants | ideal.Divergence, "launch": ideal.Launch,
}

// saturated is the share of a unit's peak from which on what leaves it its work gains less than a finding is worth.
const saturated = 0.98

// mechanisms is those that may cost a launch something. Where a unit is saturated, they are those that have to do with
// the unit; beside the launching of CTAs also those that make plenty of work, which it hides.
func (c *concern) mechanisms() []ideal.Set {
	list := c.present()
	if len(c.Use) == 0 || c.Use[0].Value < saturated {
		return list
	}
	unit := c.Use[0].Name
	of, ok := Covers[unit]
	if !ok {
		of = UnitMechanisms[unit] | ideal.Divergence | ideal.Spills | ideal.LocalArrays
	}
	return slices.DeleteFunc(list, func(m ideal.Set) bool {
		return !of.Has(m) && m != ideal.CTAWork && !(unit == "launch" && c.waste(m) >= plenty)
	})
}

// ReadOnce reports whether most of what L1 misses L2 misses too: nothing is read again that L1 could have kept, and what
// there is to say is said of DRAM.
func ReadOnce(r *simengine.Report) bool {
	var l2, dram float64
	if len(r.Lines) == 0 { // level model
		const sector = 32
		l2, dram = sector*r.Metrics["lts__t_sectors_op_read.sum"], r.Metrics["dram__bytes_read.sum"]
	}
	for i := range r.Lines {
		for _, m := range r.Lines[i].Memory {
			if strings.HasSuffix(m.Kind, "load") {
				l2 += m.L2Bytes
				dram += m.DRAMReadBytes
			}
		}
	}
	return dram > l2/2
}

// present is the mechanisms that there is something of.
func (c *concern) present() (list []ideal.Set) {
	unknown := len(c.Lines) == 0 // what lines do
	some := func(m ideal.Set, is bool) {
		if is && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	for _, m := range []ideal.Set{ideal.Banks, ideal.Coalescing, ideal.Constants, ideal.Divergence} {
		some(m, unknown || c.waste(m) >= negligible)
	}
	global := unknown || c.asked("global atomic").Requests > 0
	some(ideal.Atomics, global)
	some(ideal.L2Atomics, global)
	some(ideal.SharedAtomics, unknown || c.asked("shared atomic").Requests > 0)
	some(ideal.Barriers, (unknown || c.barriers) && c.waits("barrier"))
	some(ideal.Spills, c.SpillBytes > 0)
	some(ideal.LocalArrays, len(c.LocalArrays) > 0)
	some(ideal.Occupancy, (c.Limiter == "registers" || c.Limiter == "shared_mem") && c.Waves > 1)
	memory := unknown || c.waits("long_scoreboard", "lg_throttle")
	some(ideal.L1, (memory || share(c.Use, "l2") >= 0.1) && !ReadOnce(c.Report))
	some(ideal.DRAM, unknown || share(c.Use, "dram") >= 0.1 || c.fromDRAM()*share(c.Slots, "long_scoreboard", "lg_throttle") >= unfelt)
	some(ideal.Latency, c.waits("long_scoreboard", "short_scoreboard", "imc_miss"))
	some(ideal.Dependency, c.waits("wait"))
	some(ideal.CTAWork, c.gathers())
	some(ideal.Launch, unknown || share(c.Use, "launch") >= negligible || c.Waves > 1 && c.waits("idle"))
	return list
}

// fromDRAM is the share of what warps wait for loads that they wait for DRAM, at most: its latency is under three times
// that of L2 on GPUs whose figures are measured (simengine/arch/data).
func (c *concern) fromDRAM() float64 {
	var l2, dram float64
	for i := range c.Lines {
		for _, m := range c.Lines[i].Memory {
			l2 += m.L2Bytes
			dram += m.DRAMReadBytes
		}
	}
	return math.Min(3*dram/math.Max(l2, 1), 1)
}

// units is the mechanisms that make the units cost nothing that bound a launch, unless what makes their work less gains
// enough to say why they do.
func (c *concern) units(single []WhatIf) (list []ideal.Set) {
	if c.Bound != c.Nearest {
		return nil
	}
	for _, u := range c.NearestUnits() {
		m := UnitMechanisms[u.Name]
		known := slices.ContainsFunc(single, func(w WhatIf) bool {
			return w.Without == m || w.Gain >= worthTogether && Structural.Has(w.Without) && Covers[u.Name].Has(w.Without)
		})
		if m != 0 && !known && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// Structural are mechanisms that a change of the kernel does away with, partners those besides that hide what they cost
// and that a change does away with, too.
const (
	Structural = ideal.Banks | ideal.Coalescing | ideal.Constants | ideal.Atomics | ideal.SharedAtomics | ideal.Divergence | ideal.Spills | ideal.LocalArrays
	partners   = Structural | ideal.Latency | ideal.Dependency | ideal.Occupancy | ideal.Barriers | ideal.Launch
)

// Gains from which on two mechanisms are worth a machine without both.
const (
	worthPair     = 1.05 // of the partner
	hiddenBelow   = 1.2  // of the one that makes plenty of work
	worthTogether = 1.1  // of both of the two largest
)

// pairs is pairs of mechanisms that may gain more than each by itself: a wasteful one that gains little with the partner
// that gains most, the two that gain most of those that a change of the kernel does away with, and the two that gain most
// of all: whether their gains overlap.
func (c *concern) pairs(single []WhatIf) (list []ideal.Set) {
	single = slices.Clone(single)
	slices.SortStableFunc(single, func(a, b WhatIf) int { return cmp.Compare(b.Gain, a.Gain) })
	add := func(m ideal.Set) {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	var largest []WhatIf
	for _, w := range single {
		if Structural.Has(w.Without) && w.Gain >= worthTogether {
			largest = append(largest, w)
		}
		if w.Without == ideal.CTAWork && w.Gain >= worthPair { // more work a CTA is more loads in flight
			add(w.Without | ideal.Latency)
		}
		if w.Gain >= hiddenBelow || c.waste(w.Without) < plenty {
			continue
		}
		for _, p := range single {
			if partners.Has(p.Without) && p.Without != w.Without && p.Gain >= worthPair {
				add(w.Without | p.Without)
				break
			}
		}
	}
	if len(largest) > 1 {
		add(largest[0].Without | largest[1].Without)
	}
	if len(single) > 1 && single[1].Gain >= worthPair && !contains(single[0].Without, single[1].Without) {
		add(single[0].Without | single[1].Without)
	}
	return list
}

// contains reports whether one of two mechanisms has all of what the other has.
func contains(a, b ideal.Set) bool {
	both := a | b
	return both == ideal.Atomics|ideal.L2Atomics || both == ideal.L2Atomics|ideal.CTAWork || both == ideal.Launch|ideal.CTAWork
}

// Paired is a mechanism's best pair among what-ifs, and the other mechanism of it; false: there is none.
func Paired(all []WhatIf, m ideal.Set) (best WhatIf, other ideal.Set, ok bool) {
	for _, w := range all {
		if w.Without != m && w.Without.Has(m) && w.Gain > best.Gain {
			best, other, ok = w, w.Without&^m, true
		}
	}
	return best, other, ok
}
