package explain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// stalledAt is the line before which warps wait longest for reasons, and the part of all waiting.
func stalledAt(r *simengine.Report, reasons ...string) (line *simengine.SourceLine, share float64) {
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
			most, line = here, &r.Lines[i]
		}
	}
	if total == 0 {
		return nil, 0
	}
	return line, sum / total
}

func latency(s *Subject) Finding {
	line, share := stalledAt(s.Report, "long_scoreboard", "short_scoreboard", "imc_miss")
	f := Finding{Evidence: "the latency of memory is not hidden"}
	if line != nil {
		f.Line = line.Line
		f.Evidence = fmt.Sprintf("waits for data: %.0f %% of what all warps wait is for memory (global, shared or constant), and this line waits longest; its latency is not hidden by %.0f warps on an SM",
			100*share, s.Report.Occupancy*float64(s.Arch.MaxWarps))
	}
	p := worst(s.Report, func(m *simengine.MemoryUse) float64 { return m.Requests }, "global load", "local load", "asynchronous copy")
	const once = 1.5 // loads of a warp
	if len(s.Report.Lines) == 0 {
		f.advise("more loads in flight: several elements a thread, or what the next iteration needs ahead")
	} else if _, global := stalledAt(s.Report, "long_scoreboard"); p.Requests == 0 || global < share/2 {
		f.advise("read shared memory some instructions before what is read is needed")
	} else if p.Requests/s.warps() <= once {
		f.advice = append(f.advice, advice{"several elements a thread, all loaded before the first is used: each thread loads one here", +1})
	} else if s.ofTriton() {
		f.advise(s.stated("more loads in flight: more stages", numStages))
	} else {
		f.advise("more loads in flight: unroll, or load what the next iteration needs ahead (double buffering)")
	}
	if p.LaneBytes > 0 && p.LaneBytes < 16 && apartBytes(&p.MemoryUse) == int64(p.LaneBytes) {
		f.advise(fmt.Sprintf("vector loads (of 16 bytes a lane, not %d)", p.LaneBytes))
	}
	s.moreWarps(&f)
	return f
}

func dependency(s *Subject) Finding {
	line, share := stalledAt(s.Report, "wait")
	f := Finding{Evidence: "arithmetic waits for arithmetic"}
	if line != nil && share >= 0.01 {
		f.Line = line.Line
		f.Evidence = fmt.Sprintf("arithmetic waits for the result before it: %.0f %% of what all warps wait, here longest", 100*share)
	}
	f.advise("independent chains: several accumulators, or more elements a thread")
	s.moreWarps(&f)
	return f
}

func barriers(s *Subject) Finding {
	line, share := stalledAt(s.Report, "barrier")
	f := Finding{Evidence: "warps wait for each other at barriers"}
	if share >= 0.01 {
		f.Evidence = fmt.Sprintf("warps wait for each other: %.0f %% of what all warps wait is at barriers", 100*share)
	}
	if line != nil {
		f.Line = line.Line
		if before := barrierBefore(s.Report, line.Line); before != "" {
			f.Line = before
		}
	}
	const warp = 32
	if s.Threads <= warp {
		f.advise("__syncwarp: the CTA is one warp")
		return f
	}
	if s.ofTriton() {
		f.advise(s.stated("fewer warps a CTA", numWarps))
		return f
	}
	f.advise("fewer barriers (two buffers in turns need one an iteration)", "work of the same length for all warps")
	if s.Threads > 4*warp {
		f.advice = append(f.advice, advice{fmt.Sprintf("CTAs of fewer than %d threads, so that others work meanwhile", s.Threads), -1})
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
	most, lanes := 0.0, 0.0
	var worst *simengine.SourceLine
	var warp, threads float64
	for i := range s.Report.Lines {
		l := &s.Report.Lines[i]
		warp += l.WarpInstructions
		threads += l.ThreadInstructionsOn
		if lost := 32*l.WarpInstructions - l.ThreadInstructionsOn; lost > most {
			most, worst, lanes = lost, l, l.ThreadInstructionsOn/l.WarpInstructions
		}
	}
	f := Finding{Evidence: "lanes of a warp go different ways"}
	if worst == nil {
		f.advise("let the threads that work be neighbours (t < n instead of t % n == 0)", "sort work so that a warp's lanes go one way")
		return f
	}
	f.Line = worst.Line
	f.Evidence = fmt.Sprintf("lanes diverge: %s of 32 lanes are active here, %s in the mean over the kernel", number(lanes), number(threads/math.Max(warp, 1)))
	switch {
	case worst.Condition == "data" && worst.ConditionLoops:
		f.Evidence += "; data decides how often each iterates"
		f.advise("give all lanes of a warp as many iterations, and discard by selection (?:) what a lane does not need", "sort work so that a warp's lanes take as long")
	case worst.Condition == "data":
		f.Evidence += "; data decides which way each goes"
		f.advise("compute both ways and select (?:)", "sort work so that a warp's lanes go one way")
	case worst.Condition == "remainder":
		f.Evidence += "; a remainder of the thread's index decides"
		f.advise("let the threads that work be neighbours (t < n instead of t % n == 0), so that whole warps have none")
	default:
		f.Evidence += "; the thread's index decides, and the threads that work are neighbours already"
		f.advise("do the last steps, for which less than a warp is left, by shuffles", "give each thread that works more to do, so that there are fewer steps")
	}
	return f
}

func launch(s *Subject) Finding {
	f := Finding{Evidence: fmt.Sprintf("launching the %d CTAs of %d threads takes part of the time", s.CTAs, s.Threads)}
	f.advice = []advice{{"more work a thread, so that there are fewer CTAs", +1}}
	const largest = 512 // threads: of larger CTAs few fit an SM
	if s.Threads < largest && gainOf(s, ideal.Barriers) < leastGain {
		f.advice = append(f.advice, advice{"larger CTAs", +1})
	}
	return f
}
