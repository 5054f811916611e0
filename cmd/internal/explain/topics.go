package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// topics say what is seen of each mechanism, where, and what usually helps.
var topics = map[ideal.Set]func(*Subject) Finding{
	ideal.Banks: banks, ideal.Coalescing: coalescing, ideal.Constants: constants, ideal.Atomics: atomics, ideal.L1: missesL1, ideal.DRAM: dram,
	ideal.Latency: latency, ideal.Dependency: dependency, ideal.Occupancy: occupancy, ideal.Spills: spills, ideal.Divergence: divergence,
	ideal.Barriers: barriers, ideal.Launch: launch,
}

// place is a line and what it does of a kind.
type place struct {
	line string
	simengine.MemoryUse
}

// worst is the line that has most of what is asked for, of uses whose kind has one of the prefixes.
func worst(r *simengine.Report, cost func(*simengine.MemoryUse) float64, prefixes ...string) (p place) {
	most := 0.0
	for i := range r.Lines {
		for j := range r.Lines[i].Memory {
			m := &r.Lines[i].Memory[j]
			if v := cost(m); v > most && slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(m.Kind, s) }) {
				most, p = v, place{r.Lines[i].Line, *m}
			}
		}
	}
	return p
}

// verbs are what a line does to memory.
func verb(kind string) string {
	switch {
	case strings.HasSuffix(kind, "store"):
		return "writes"
	case strings.HasSuffix(kind, "atomic"):
		return "updates"
	}
	return "reads"
}

func banks(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts - m.IdealWavefronts }, "shared")
	f := Finding{Line: p.line, Evidence: "shared memory is accessed with bank conflicts", Remedy: "Pad the row by one element, or permute its columns"}
	if p.Requests == 0 {
		return f
	}
	ways, ideal := p.Wavefronts/p.Requests, p.IdealWavefronts/p.Requests
	f.Evidence = fmt.Sprintf("%s shared memory with %s-way bank conflicts: a request takes %s wavefronts for %s, %.0f %% of them repeat",
		verb(p.Kind), number(ways/math.Max(ideal, 1)), number(ways), number(ideal), 100*(1-ideal/ways))
	if strings.HasSuffix(p.Kind, "atomic") {
		f.Remedy = "Give warps copies of their own, or spread neighbours over the banks"
	}
	return f
}

// number is a mean, without decimals where it has none to speak of.
func number(v float64) string {
	if math.Abs(v-math.Round(v)) < 0.05 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

func coalescing(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Sectors - m.IdealSectors }, "global load", "global store")
	f := Finding{Line: p.line, Evidence: "global memory is accessed uncoalesced", Remedy: "Let neighbouring threads access neighbouring elements, or go through shared memory"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("%s global memory uncoalesced: a request touches %s sectors of 32 bytes where its bytes fill %s, %.3g %% of what is moved is used",
			verb(p.Kind), number(p.Sectors/p.Requests), number(p.IdealSectors/p.Requests), 100*p.IdealSectors/p.Sectors)
	}
	return f
}

func constants(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Wavefronts - m.IdealWavefronts }, "constant", "parameter")
	f := Finding{Line: p.line, Evidence: "lanes read different constants, one after another", Remedy: "Let all lanes of a warp read the same constant, or keep the table in shared or global memory"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("reads constant memory at %s different addresses a request, which are served one after another", number(p.Wavefronts/p.Requests))
	}
	return f
}

func atomics(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Requests * math.Max(m.SameAddress, 1) }, "global atomic", "shared atomic")
	f := Finding{Line: p.line, Evidence: "atomics meet at an address", Remedy: "Sum in the warp (shuffles) or the block first, or give blocks copies in shared memory"}
	if p.Requests > 0 {
		f.Evidence = fmt.Sprintf("updates %s memory with atomics that meet: up to %s lanes of a request at one address", strings.TrimSuffix(p.Kind, " atomic"), number(p.SameAddress))
	}
	return f
}

func missesL1(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.L2Bytes }, "global load", "local load")
	f := Finding{Line: p.line, Evidence: "loads miss L1", Remedy: "Reuse data from shared memory or registers (tiling), or fetch it before it is needed"}
	if p.Sectors > 0 {
		f.Evidence = fmt.Sprintf("%s of %s loaded come from L2 or beyond: L1 has %.0f %%", scaled(p.L2Bytes, "B"), scaled(sectorBytes*p.Sectors, "B"), 100*p.L1HitBytes/(sectorBytes*p.Sectors))
	}
	return f
}

// readOnce reports whether most of what L1 misses L2 misses too: nothing is read again that L1 could have kept, and what
// there is to say is said of DRAM.
func readOnce(r *simengine.Report) bool {
	var l2, dram float64
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

func dram(s *Subject) Finding {
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.DRAMReadBytes }, "global load", "asynchronous copy", "bulk copy")
	m := s.Report.Metrics
	return Finding{
		Line:     p.line,
		Evidence: fmt.Sprintf("%s are read from DRAM and %s written", scaled(m["dram__bytes_read.sum"], "B"), scaled(m["dram__bytes_write.sum"], "B")),
		Remedy:   "Move less: fuse kernels, use smaller types, block for L2, read each byte once",
	}
}

// stalledAt is the line before which warps wait longest for reasons, and the part of all waiting.
func stalledAt(r *simengine.Report, reasons ...string) (line string, share float64) {
	total, most := 0.0, 0.0
	sum := 0.0
	for i := range r.Lines {
		here := 0.0
		for reason, v := range r.Lines[i].StallWarpCycles {
			total += v
			if slices.Contains(reasons, reason) {
				here += v
			}
		}
		sum += here
		if here > most {
			most, line = here, r.Lines[i].Line
		}
	}
	if total == 0 {
		return "", 0
	}
	return line, sum / total
}

func latency(s *Subject) Finding {
	line, share := stalledAt(s.Report, "long_scoreboard", "short_scoreboard", "imc_miss")
	f := Finding{Line: line, Evidence: "the latency of memory is not hidden", Remedy: "More loads in flight: unroll, load ahead, vector loads, more warps"}
	if share > 0 {
		f.Evidence = fmt.Sprintf("waits for data: %.0f %% of the time that warps wait they wait for memory, here longest; its latency is not hidden by %.0f warps on an SM",
			100*share, s.Report.Occupancy*float64(s.Arch.MaxWarps))
	}
	return f
}

func dependency(s *Subject) Finding {
	line, share := stalledAt(s.Report, "wait")
	f := Finding{Line: line, Evidence: "arithmetic waits for arithmetic", Remedy: "Independent chains: several accumulators, unrolled loops, more warps"}
	if share > 0 {
		f.Evidence = fmt.Sprintf("arithmetic waits for the result before it: %.0f %% of the time that warps wait, here longest", 100*share)
	}
	return f
}

func barriers(s *Subject) Finding {
	line, share := stalledAt(s.Report, "barrier")
	f := Finding{Line: line, Evidence: "warps wait for each other at barriers", Remedy: "Fewer barriers, smaller blocks, more blocks on an SM, or work of the same length for all warps"}
	if share >= 0.01 {
		f.Evidence = fmt.Sprintf("warps wait for each other: %.0f %% of the time that they wait is at barriers", 100*share)
	}
	if before := barrierBefore(s.Report, line); before != "" {
		f.Line = before
	}
	return f
}

// barrierBefore is the line of the barrier that a line waits behind, by the order of the PTX.
func barrierBefore(r *simengine.Report, line string) string {
	at, of := 0, 1<<30
	for i := range r.Lines {
		for _, in := range r.Lines[i].Instructions {
			if r.Lines[i].Line == line {
				of = min(of, in.PTXLine)
			}
		}
	}
	found := ""
	for i := range r.Lines {
		for _, in := range r.Lines[i].Instructions {
			if strings.Contains(in.PTX, "bar.") && (found == "" || in.PTXLine > at && in.PTXLine <= of) {
				at, found = in.PTXLine, r.Lines[i].Line
			}
		}
	}
	return found
}

func divergence(s *Subject) Finding {
	most, worst, lanes := 0.0, -1, 0.0
	var warp, threads float64
	for i := range s.Report.Lines {
		l := &s.Report.Lines[i]
		warp += l.WarpInstructions
		threads += l.ThreadInstructionsOn
		if lost := 32*l.WarpInstructions - l.ThreadInstructionsOn; lost > most {
			most, worst, lanes = lost, i, l.ThreadInstructionsOn/l.WarpInstructions
		}
	}
	f := Finding{Evidence: "lanes of a warp go different ways", Remedy: "Let the threads that work be neighbours (t < n instead of t % n == 0), or sort work so that a warp's lanes go one way"}
	if worst >= 0 {
		f.Line = s.Report.Lines[worst].Line
		f.Evidence = fmt.Sprintf("lanes diverge: %s of 32 lanes are active here, %s in the mean over the kernel", number(lanes), number(threads/math.Max(warp, 1)))
	}
	return f
}

func launch(s *Subject) Finding {
	return Finding{
		Evidence: fmt.Sprintf("starting the grid and its %d CTAs takes part of the time", s.CTAs),
		Remedy:   "More work a launch or a thread, fewer and larger CTAs, CUDA graphs",
	}
}

func spills(s *Subject) Finding {
	most, f := 0.0, Finding{Evidence: fmt.Sprintf("%d bytes of registers a thread are spilled to local memory", s.Report.SpillBytes), Remedy: "A larger register cap, smaller tiles, or shorter lives of values"}
	for i := range s.Report.Lines {
		if v := s.Report.Lines[i].SpillLoads + s.Report.Lines[i].SpillStores; v > most {
			most, f.Line = v, s.Report.Lines[i].Line
		}
	}
	if most > 0 {
		f.Evidence += ", here most of all"
	}
	return f
}

// spillsAnyway is spills that cost nothing to speak of.
func spillsAnyway(s *Subject) (Finding, bool) {
	if s.Report.SpillBytes == 0 {
		return Finding{}, false
	}
	f := spills(s)
	f.Topic, f.Remedy = ideal.Spills.String(), "Without them it is hardly faster"
	return f, true
}

// localArrays is variables of a thread's own in local memory.
func localArrays(s *Subject) (Finding, bool) {
	if len(s.Report.LocalArrays) == 0 {
		return Finding{}, false
	}
	a := s.Report.LocalArrays[0]
	f := Finding{Topic: "local arrays", Evidence: fmt.Sprintf("a variable of %d bytes of each thread is in local memory, no register", a.Bytes), Remedy: "Index it with constants: unroll the loops over it"}
	if a.Line > 0 {
		f.Evidence = fmt.Sprintf("indexes a variable of %d bytes of each thread at run time, so that it is in local memory", a.Bytes)
		f.Line = fmt.Sprintf("PTX line %d", a.Line)
		for i := range s.Report.Lines {
			for _, in := range s.Report.Lines[i].Instructions {
				if in.PTXLine == a.Line {
					f.Line = s.Report.Lines[i].Line
				}
			}
		}
	}
	return f, true
}

// computeBound is a kernel that an arithmetic pipe or issue bounds.
func computeBound(s *Subject) (Finding, bool) {
	r := s.Report
	remedies := map[string]string{
		"issue": "Fewer instructions: wider loads, unrolling, cheaper addresses", "alu": "Fewer integer operations: hoist addresses, unroll", "imad": "Cheaper index arithmetic",
		"fma": "Fewer operations, or half precision or tensor cores", "fp64": "fp32 where its precision is enough", "half": "Tensor cores", "tensor": "Smaller types",
		"xu": "Fast approximations, polynomials, or fewer conversions",
	}
	remedy, ok := remedies[r.Bound]
	if !ok || len(r.Use) == 0 {
		return Finding{}, false
	}
	f := Finding{Topic: "compute", Remedy: remedy, Evidence: fmt.Sprintf("compute bound: %s works at %.0f %% of its peak", UnitWords(r.Bound), 100*r.Use[0].Value)}
	most, all := 0.0, 0.0
	for i := range r.Lines {
		all += r.Lines[i].WarpInstructions
		if v := r.Lines[i].WarpInstructions; v > most {
			most, f.Line = v, r.Lines[i].Line
		}
	}
	if all > 0 {
		f.Evidence += fmt.Sprintf("; this line issues %.0f %% of the instructions", 100*most/all)
	}
	return f, true
}
