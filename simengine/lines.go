package simengine

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/origin"
	"github.com/warptune/warptune/simengine/timing"
)

// SourceLine is what a line of the source does and costs in a launch. Counts are of the whole grid, estimated as
// Report.Metrics are.
type SourceLine struct {
	// Line is the line, as saxpy.cu:14 or, where the PTX says no lines, "PTX line 31".
	Line string `json:"line"`
	// WarpInstructions is the issue slots that it takes: machine instructions of warps; ThreadInstructions the same
	// times active lanes, ThreadInstructionsOn times those of them whose guard is on: what the assembler makes of a
	// short branch is guarded.
	WarpInstructions     float64 `json:"warp_instructions"`
	ThreadInstructions   float64 `json:"thread_instructions"`
	ThreadInstructionsOn float64 `json:"thread_instructions_pred_on"`
	// StallShare is the part of all cycles that warps wait which they wait before its instructions; StallWarpCycles
	// those cycles by reason, Nsight Compute's names.
	StallShare      float64            `json:"stall_share"`
	StallWarpCycles map[string]float64 `json:"stall_warp_cycles"`
	SpillStores     float64            `json:"spill_stores"` // warp instructions
	SpillLoads      float64            `json:"spill_loads"`
	// Condition is what decides which lanes execute the line: where most are lost, what the innermost condition on which
	// threads of a warp may differ comes of: "data" in memory, a "remainder" of the thread's index, the "thread"'s index
	// otherwise; "" where threads do not differ. ConditionLoops says that it decides whether to iterate once more.
	Condition      string            `json:"condition,omitempty"`
	ConditionLoops bool              `json:"condition_loops,omitempty"`
	Memory         []MemoryUse       `json:"memory,omitempty"`
	Instructions   []LineInstruction `json:"instructions"`
}

// MemoryUse is the memory requests of one kind that a line makes.
type MemoryUse struct {
	Kind     string  `json:"kind"` // as "global load"
	Requests float64 `json:"requests"`
	// Sectors are of 32 bytes; IdealSectors as many as the lanes' bytes fill.
	Sectors      float64 `json:"sectors"`
	IdealSectors float64 `json:"ideal_sectors"`
	// Wavefronts is turns of the data stage or of the banks of shared memory, IdealWavefronts those without conflicts;
	// of constant memory the distinct words.
	Wavefronts      float64 `json:"wavefronts"`
	IdealWavefronts float64 `json:"ideal_wavefronts"`
	L1HitBytes      float64 `json:"l1_hit_bytes"`
	L2Bytes         float64 `json:"l2_bytes"`
	DRAMReadBytes   float64 `json:"dram_read_bytes"`
	// SameAddress is, of an atomic, how many lanes of a request address one word at most, in the mean.
	SameAddress float64 `json:"same_address,omitempty"`
	// LaneBytes is what a lane accesses, and ApartBytes how far apart neighbouring threads do, where that is the same for
	// all of a warp; ByData says that addresses come of what was loaded. They are of the instruction that wastes most.
	LaneBytes  int    `json:"lane_bytes,omitempty"`
	ApartBytes *int64 `json:"apart_bytes,omitempty"`
	ByData     bool   `json:"by_data,omitempty"`
	waste      float64
}

// LineInstruction is a PTX instruction of a line.
type LineInstruction struct {
	PTXLine    int     `json:"ptx_line"`
	PTX        string  `json:"ptx"`
	Executions float64 `json:"executions"` // by warps
	// ActiveLanes is how many lanes are active and have their guard on, in the mean.
	ActiveLanes float64 `json:"active_lanes"`
	// OncePerCTA says that a CTA executes it as often whether its threads load few elements or many (ideal.OncePerCTA).
	OncePerCTA bool                 `json:"once_per_cta,omitempty"`
	Machine    []MachineInstruction `json:"machine,omitempty"`
}

// MachineInstruction is a machine instruction that the assembler model makes of a PTX instruction.
type MachineInstruction struct {
	Kind             string  `json:"kind"`
	Spill            bool    `json:"spill,omitempty"`
	WarpInstructions float64 `json:"warp_instructions"`
	StallWarpCycles  float64 `json:"stall_warp_cycles"`
}

// sourceLines sums sites by source line, in the order of the PTX.
func sourceLines(k *ir.Kernel, sites []timing.Site) []SourceLine {
	if sites == nil {
		return nil
	}
	of := map[string]int{}
	out := []SourceLine{}
	values := origin.Of(k)
	conditions, once := values.Conditions(k), ideal.OncePerCTA(k)
	lost := map[int]float64{}
	total := 0.0
	for i := range sites {
		s := &sites[i]
		name := lineOf(&k.Instrs[s.PC])
		n, ok := of[name]
		if !ok {
			n = len(out)
			of[name] = n
			out = append(out, SourceLine{Line: name, StallWarpCycles: map[string]float64{}})
		}
		out[n].add(k, values, s, once != nil && once[s.PC])
		total += s.Stalled()
		if off := warpSize*s.Instructions - s.ThreadsOn; conditions[s.PC].Of != 0 && off > lost[n] {
			lost[n] = off
			out[n].Condition, out[n].ConditionLoops = conditionText(conditions[s.PC].Of), conditions[s.PC].Loop
		}
	}
	for i := range out {
		out[i].StallShare /= max(total, 1)
	}
	return out
}

// lineOf names the line that an instruction comes from.
func lineOf(in *ir.Instr) string {
	if in.Pos.Source != "" {
		return in.Pos.Source
	}
	return "PTX line " + strconv.Itoa(in.Pos.Line)
}

// warpSize is the lanes of a warp.
const warpSize = 32

// conditionText is what a condition comes of, in a word.
func conditionText(of origin.Set) string {
	switch {
	case of.Has(origin.Data):
		return "data"
	case of.Has(origin.Remainder):
		return "remainder"
	}
	return "thread"
}

func (l *SourceLine) add(k *ir.Kernel, values *origin.Values, s *timing.Site, once bool) {
	in := &k.Instrs[s.PC]
	l.WarpInstructions += s.Instructions
	l.ThreadInstructions += s.Threads
	l.ThreadInstructionsOn += s.ThreadsOn
	l.SpillStores += s.SpillStores
	l.SpillLoads += s.SpillLoads
	l.StallShare += s.Stalled() // cycles until all sites are known
	for r, v := range s.Stalls {
		if v > 0 {
			l.StallWarpCycles[timing.StallReason(r).String()] += v
		}
	}
	if s.Requests > 0 {
		l.use(memoryKind(in)).add(in, values, s)
	}
	i := LineInstruction{PTXLine: in.Pos.Line, PTX: k.Text(int(s.PC)), Executions: s.Executions, OncePerCTA: once}
	if s.Instructions > 0 {
		i.ActiveLanes = s.ThreadsOn / s.Instructions
	}
	for _, m := range s.Machine {
		i.Machine = append(i.Machine, MachineInstruction{m.Class, m.Spill, m.Issued, m.Stalls})
	}
	l.Instructions = append(l.Instructions, i)
}

// use is the line's requests of a kind.
func (l *SourceLine) use(kind string) *MemoryUse {
	i := slices.IndexFunc(l.Memory, func(m MemoryUse) bool { return m.Kind == kind })
	if i < 0 {
		i = len(l.Memory)
		l.Memory = append(l.Memory, MemoryUse{Kind: kind})
	}
	return &l.Memory[i]
}

func (m *MemoryUse) add(in *ir.Instr, values *origin.Values, s *timing.Site) {
	if waste := s.Passes - s.IdealPasses + s.Sectors - s.IdealSectors; m.Requests == 0 || waste > m.waste {
		m.waste, m.LaneBytes = waste, in.Type.Size()*max(int(in.Vec), 1)
		v := values.Operand(&in.Src[0])
		m.ByData, m.ApartBytes = v.Of.Has(origin.Data), nil
		if v.Known && !m.ByData {
			m.ApartBytes = &v.Apart
		}
	}
	m.Requests += s.Requests
	m.Sectors += s.Sectors
	m.IdealSectors += s.IdealSectors
	m.Wavefronts += s.Passes
	m.IdealWavefronts += s.IdealPasses
	m.L1HitBytes += sectorBytes * s.L1Hits
	m.L2Bytes += sectorBytes * s.L2Sectors
	m.DRAMReadBytes += sectorBytes * s.DRAMSectors
	m.SameAddress = max(m.SameAddress, s.Same)
}

const sectorBytes = 32 // of caches and DRAM

var spaceNames = map[ir.Space]string{
	ir.Global: "global", ir.Generic: "global", ir.Shared: "shared", ir.SharedCluster: "cluster shared", ir.Local: "local",
	ir.Const: "constant", ir.ParamSpace: "parameter",
}

// memoryKind is the kind of a memory instruction, as "shared store".
func memoryKind(in *ir.Instr) string {
	space := cmp.Or(spaceNames[in.Space], "global")
	switch in.Op {
	case ir.St:
		return space + " store"
	case ir.Atom, ir.Red:
		return space + " atomic"
	case ir.Tex:
		return "texture fetch"
	case ir.Suld:
		return "surface load"
	case ir.Sust:
		return "surface store"
	case ir.CpAsync:
		return "asynchronous copy"
	case ir.BulkCopy, ir.BulkPrefetch:
		return "bulk copy"
	}
	return space + " load"
}
