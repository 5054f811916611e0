package page

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
)

// saturated is the use from which on a level of memory is said to be saturated: where the simulator says that a unit
// bounds a launch.
const saturated = 0.6

// trial is all that is stored of one configuration.
func trial(sweep string, names []string, r *Result, d *Device) *Trial {
	o := &r.Outcome
	t := &Trial{
		Schema: TrialSchema, Sweep: sweep, Trial: r.Seq, Index: r.Index, Parameters: search.Config{Names: names, Values: r.Values},
		Validity: validityOf(r), Message: o.Message, Level: r.Level, Compiler: o.Compiler, Digest: o.Digest, TimeUS: o.TimeUS,
		Memory: []MemoryLevel{}, WarpStalls: []NamedNumber{}, Use: []NamedNumber{}, Metrics: o.Metrics,
		Checked: CheckedCTAs{CTAs: o.Checked.CTAs, Full: o.Checked.Full, Of: o.Checked.Of, For: o.Checked.For, ForFull: o.Checked.ForFull, Outputs: o.Checked.Outputs, Warnings: o.Checked.Warnings},
	}
	if t.Metrics == nil {
		t.Metrics = map[string]float64{}
	}
	if t.Validity != "correct" {
		return t
	}
	t.Use = d.Use(o)
	t.Memory = memory(r, d, t.Use)
	const before, after = "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"
	for name, v := range o.Metrics {
		if strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			t.WarpStalls = append(t.WarpStalls, NamedNumber{strings.TrimSuffix(strings.TrimPrefix(name, before), after), v})
		}
	}
	slices.SortFunc(t.WarpStalls, func(a, b NamedNumber) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Name, b.Name))
	})
	return t
}

// known is a number that is known, nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// memory is what a launch does at each level, from its counters.
func memory(r *Result, d *Device, use []NamedNumber) []MemoryLevel {
	o := &r.Outcome
	get := func(names ...string) float64 { return metric(o, names...) }
	carve := get("launch__shared_mem_config_size")
	l1 := math.NaN()
	if carve >= 0 && d.L1SharedBytes > 0 {
		l1 = float64(d.L1SharedBytes) - carve
	}
	sharedBytes := lineBytes * get(countShared)
	if o.Shared == 0 { // thread indices and shuffles pass there and move no data
		sharedBytes = 0
	}
	const dataStage = "the data stage that L1 and shared memory have in common, 128 bytes for each wavefront"
	levels := []MemoryLevel{
		{
			Level: "registers", Title: "Registers", CapacityBytes: known(4 * float64(d.RegistersPerSM)), InUseBytes: known(registersInUse(r, d)),
			Figures: figures("a thread", float64(o.Registers), "spilled bytes a thread", float64(o.SpillBytes),
				"sectors of local memory", get("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")),
		},
		{
			Level: "shared", Title: "Shared memory", CapacityBytes: known(carve), InUseBytes: known(sharedInUse(r, carve)), ReadBytes: known(sharedBytes),
			Counts: "128 bytes for each wavefront: bank conflicts, thread indices and shuffles take some", RateOf: dataStage,
			Figures: figures("bytes a CTA", float64(o.Shared), "wavefronts", get(countShared), "bank conflicts", get(countConflictsLd, countConflictsSt)),
		},
		{
			Level: "l1", Title: "L1", CapacityBytes: known(l1), ReadBytes: known(sectorBytes * get(countLoadSectors)), WrittenBytes: known(sectorBytes * get(countStoreSector)),
			Counts: "32 bytes for each sector that global loads and stores ask for", RateOf: dataStage, HitShare: known(get(countL1Hits) / 100),
			Figures: figures("requests", get(countLoads, countStores), "sectors", get(countLoadSectors, countStoreSector), "wavefronts", get(countWavefronts)),
		},
		{
			Level: "l2", Title: "L2", CapacityBytes: known(float64(d.L2Bytes)), ReadBytes: known(get(countL2ToL1)), WrittenBytes: known(get(countL1ToL2)),
			Counts: "between the SMs and L2: what L1 did not have, and stores", RateOf: "what the SMs and L2 exchange; the peak is at this mix of reads and writes", HitShare: known(get(countL2Hits) / 100),
			Figures: figures("sectors looked up, those that cross between its halves twice", get(countL2Read, countL2Written)),
		},
		{
			Level: "dram", Title: "DRAM", CapacityBytes: known(float64(d.DRAMBytes)), ReadBytes: known(get(countDRAMRead)), WrittenBytes: known(get(countDRAMWritten)),
			Counts: "between L2 and DRAM", RateOf: "DRAM's bandwidth", Figures: []NamedNumber{},
		},
	}
	stage := lineBytes * get(countWavefronts)
	moved := map[string]float64{"shared": stage, "l1": stage, "l2": get(countL2ToL1, countL1ToL2), "dram": get(countDRAMRead, countDRAMWritten)}
	for i := range levels {
		if bytes, ok := moved[levels[i].Level]; ok {
			levels[i].rate(bytes/(get(countTime)*1e-9), d, use)
		}
	}
	return levels
}

// peaks are the levels as Arch.Memory calls them.
var peaks = map[string]string{"shared": "L1 and shared memory", "l1": "L1 and shared memory", "l2": "L2", "dram": "DRAM"}

// rate notes what a level achieves of its peak. The peak is the one that the use is of: it depends on what is asked for.
func (l *MemoryLevel) rate(achieved float64, d *Device, use []NamedNumber) {
	l.BytesPerSecond = known(achieved)
	for _, p := range d.Memory {
		if p.Unit == peaks[l.Level] {
			l.PeakBytesPerSecond = known(p.PerSecond)
		}
	}
	for _, u := range use {
		if u.Name != unitOf[l.Level] {
			continue
		}
		l.UseShare, l.Saturated = known(u.Value), u.Value >= saturated
		if u.Value > 0 && achieved > 0 {
			l.PeakBytesPerSecond = known(achieved / u.Value)
		}
	}
}

// figures are pairs of a name and a number; what is not known is left out.
func figures(pairs ...any) []NamedNumber {
	out := []NamedNumber{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1].(float64); known(v) != nil {
			out = append(out, NamedNumber{pairs[i].(string), v})
		}
	}
	return out
}

// registersInUse is the bytes of registers that resident warps hold.
func registersInUse(r *Result, d *Device) float64 {
	const lanes, word = 32, 4
	warps := r.Outcome.Occupancy * float64(d.MaxWarpsPerSM)
	return warps * lanes * word * float64(r.Outcome.Registers)
}

// sharedInUse is the bytes of shared memory that resident CTAs hold.
func sharedInUse(r *Result, carveOut float64) float64 {
	o := &r.Outcome
	ctas := math.Inf(1)
	for _, by := range []string{"blocks", "registers", "shared_mem", "warps"} {
		v := metric(o, "launch__occupancy_limit_"+by)
		if math.IsNaN(v) {
			return math.NaN()
		}
		ctas = math.Min(ctas, v)
	}
	return math.Min(ctas*float64(o.Shared), carveOut)
}
