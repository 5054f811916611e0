package page

import (
	"slices"
)

// Arch is an architecture's figures, as far as charts need them.
type Arch struct {
	Name       string  `json:"name"`
	Title      string  `json:"title"` // e.g. "NVIDIA H200 SXM"
	Capability string  `json:"compute_capability"`
	SMs        int     `json:"sms"`
	ClockMHz   float64 `json:"clock_mhz"`
	// Capacities.
	RegistersPerSM    int   `json:"registers_per_sm"` // of 32 bits
	MaxThreadsPerCTA  int   `json:"max_threads_per_cta"`
	MaxWarpsPerSM     int   `json:"max_warps_per_sm"`
	MaxCTAsPerSM      int   `json:"max_ctas_per_sm"`
	SharedBytesPerCTA int   `json:"shared_bytes_per_cta"` // most, after opting in
	CarveOutsBytes    []int `json:"carve_outs_bytes"`     // sizes of shared memory of an SM
	L1SharedBytes     int   `json:"l1_shared_bytes"`      // of an SM, L1 and shared memory together
	L2Bytes           int   `json:"l2_bytes"`
	DRAMBytes         int   `json:"dram_bytes"`
	// Memory are the levels from the SM outwards with their peaks: the roofline's slopes.
	Memory []Peak `json:"memory"`
	// Compute are units with their peaks: the roofline's ceilings. Units of "instructions/s" are of warps.
	Compute []Peak `json:"compute"`
	// Unverified of Figures are not verified by anybody.
	UnverifiedFigures int `json:"unverified_figures"`
	Figures           int `json:"figures"`
}

// Peak is what a unit does at most.
type Peak struct {
	Unit      string  `json:"unit"`       // as "DRAM", "L2", "fp32", "tensor cores, fp16", "issue"
	PerSecond float64 `json:"per_second"` // of the whole device
	Of        string  `json:"of"`         // "bytes", "flop" or "warp instructions"
}

// Roofline says which columns of the table are a configuration's place under a roof. Its abscissa is work over bytes, its
// ordinate work over time on the GPU (column gpu_time_us).
type Roofline struct {
	Title string `json:"title"`
	// Work is the column of the work, WorkOf what it counts: "flop" or "warp instructions". Ceilings are the peaks of it.
	Work     string `json:"work"`
	WorkOf   string `json:"work_of"`
	Ceilings []Peak `json:"ceilings"`
	// Traffic are the levels of memory that bytes can be counted at. The first is the one to show: DRAM, unless no
	// configuration has any bytes there.
	Traffic []Traffic `json:"traffic"`
	// Note says what the work is, and what is left out of it.
	Note string `json:"note"`
}

// Traffic is a level of memory under a roofline.
type Traffic struct {
	Level          string  `json:"level"`  // "DRAM", "L2", "L1 and shared memory"
	Column         string  `json:"column"` // of bytes, in the table
	BytesPerSecond float64 `json:"bytes_per_second"`
}

// rooflines are the roofs that every configuration of a sweep can be drawn under, by what is stored of it.
func (t *rows) rooflines(a *Arch) []Roofline {
	traffic := []Traffic{}
	for _, m := range a.Memory {
		if column, ok := map[string]string{"DRAM": "dram_bytes", "L2": "l2_bytes", "L1 and shared memory": "l1_bytes"}[m.Unit]; ok {
			traffic = append(traffic, Traffic{Level: m.Unit, Column: column, BytesPerSecond: m.PerSecond})
		}
	}
	slices.SortStableFunc(traffic, func(a, b Traffic) int {
		if t.moves(a.Column) == t.moves(b.Column) {
			return 0
		} else if t.moves(a.Column) {
			return -1
		}
		return 1
	})
	r := Roofline{
		Title: "Instructions", Work: "warp_instructions", WorkOf: "warp instructions", Traffic: traffic, Ceilings: []Peak{},
		Note: "The instruction roofline (Ding and Williams, PMBS 2019): machine instructions of warps over bytes.",
	}
	f := Roofline{
		Title: "Floating point", Work: "flop", WorkOf: "flop", Traffic: traffic, Ceilings: []Peak{},
		Note: "The roofline (Williams, Waterman and Patterson, CACM 2009): operations over bytes. An addition or a multiplication is one, a fused one two. Ceilings are of the units that the kernel uses.",
	}
	for _, p := range a.Compute {
		if p.Of == r.WorkOf {
			r.Ceilings = append(r.Ceilings, p)
		}
		for i, c := range flopCounts {
			if t.flops[i] && c.unit == p.Unit {
				f.Ceilings = append(f.Ceilings, p)
			}
		}
	}
	if len(f.Ceilings) == 0 {
		return []Roofline{r}
	}
	return []Roofline{f, r}
}

// moves reports whether any row has more than nothing in a column.
func (t *rows) moves(column string) bool {
	for i := range t.columns {
		if t.columns[i].Name == column {
			return slices.ContainsFunc(t.columns[i].numbers, func(v float64) bool { return v > 0 })
		}
	}
	return false
}
