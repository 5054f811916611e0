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
	seconds := get(countTime) * 1e-9
	wave := lineBytes * get(countWavefronts)
	shared := lineBytes * get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
	l1Read := sectorBytes * get(countLoadSectors)
	l1Written := sectorBytes * get(countStoreSector)
	carve := get("launch__shared_mem_config_size")
	levels := []MemoryLevel{
		{
			Level: "registers", Title: "Registers", CapacityBytes: known(4 * float64(d.RegistersPerSM)), InUseBytes: known(registersInUse(r, d)),
			Figures: figures("a thread", float64(o.Registers), "spilled bytes a thread", float64(o.SpillBytes),
				"sectors of local memory", get("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum")),
		},
		{
			Level: "shared", Title: "Shared memory", CapacityBytes: known(carve), InUseBytes: known(sharedInUse(r, carve)), ReadBytes: known(shared),
			Figures: figures("bytes a CTA", float64(o.Shared), "wavefronts", get("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"), "bank conflicts", get(countConflictsLd, countConflictsSt)),
		},
		{
			Level: "l1", Title: "L1", ReadBytes: known(l1Read), WrittenBytes: known(l1Written), HitShare: known(get("l1tex__t_sector_hit_rate.pct") / 100),
			Figures: figures("requests", get(countLoads, countStores), "sectors", get(countLoadSectors, countStoreSector), "wavefronts", get(countWavefronts)),
		},
		{
			Level: "l2", Title: "L2", CapacityBytes: known(float64(d.L2Bytes)), ReadBytes: known(sectorBytes * get(countL2Read)), WrittenBytes: known(sectorBytes * get(countL2Written)),
			HitShare: known(get("lts__t_sector_hit_rate.pct") / 100), Figures: figures("sectors looked up", get(countL2Read, countL2Written)),
		},
		{
			Level: "dram", Title: "DRAM", CapacityBytes: known(float64(d.DRAMBytes)), ReadBytes: known(get(countDRAMRead)), WrittenBytes: known(get(countDRAMWritten)), Figures: []NamedNumber{},
		},
	}
	moved := map[string]float64{"shared": shared, "l1": wave - shared, "l2": sectorBytes * get(countL2Read, countL2Written), "dram": get(countDRAMRead, countDRAMWritten)}
	peaks := map[string]string{"shared": "L1 and shared memory", "l1": "L1 and shared memory", "l2": "L2", "dram": "DRAM"}
	for i := range levels {
		l := &levels[i]
		bytes, ok := moved[l.Level]
		if !ok {
			continue
		}
		if seconds > 0 {
			l.BytesPerSecond = known(bytes / seconds)
		}
		for _, p := range d.Memory {
			if l.Level != "l2" && p.Unit == peaks[l.Level] { // of L2 the use counts what is written as more
				l.PeakBytesPerSecond = known(p.PerSecond)
			}
		}
		for _, u := range use {
			if u.Name == unitOf[l.Level] {
				l.UseShare = known(u.Value)
				l.Saturated = u.Value >= saturated
			}
		}
	}
	if l1 := &levels[2]; carve >= 0 && d.L1SharedBytes > 0 {
		l1.CapacityBytes = known(float64(d.L1SharedBytes) - carve)
	}
	return levels
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
