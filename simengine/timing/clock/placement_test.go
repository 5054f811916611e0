package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// byColumn reads n lines one after another, those of the CTA's column in a grid of that
// width, or with own those of its own.
func byColumn(width int64, n int, own bool) (*program, func(cta int64, warps int) *trace.CTA) {
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	var loads []int32
	for range n {
		loads = append(loads, p.emit(assemble.Load, ir.Ld, ir.Global, 1, 0))
		p.emit(assemble.FMA, ir.Fma, 0, 2, 1, 2)
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, eachWarp(func(cta int64, _, _ int, w *trace.Warp) {
		w.Steps = append(w.Steps, trace.Step{Block: 0, Mask: ^uint32(0)})
		at := cta % width
		if own {
			at = cta
		}
		for i, pc := range loads {
			row(pc, uint64(int(at)*n+i), w, true)
		}
	})
}

// What CTAs of a column read is asked of L2 once for all of them that an SM holds at a
// time, and what each has of its own once for each.
func TestColumnsMeetInL1(t *testing.T) {
	const width, lines, warps, resident = 8, 64, 2, 16
	for _, own := range []bool{false, true} {
		p, tr := byColumn(width, lines, own)
		in := input(h200(t), p, tr, 1, resident, warps)
		in.Grid = [3]int{width, 132 * resident / width, 1} // one wave
		r := run(t, in)
		const loads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld"
		asked := r.Metrics[loads+".sum"] - r.Metrics[loads+"_lookup_hit.sum"]
		once := 4.0 * lines * float64(in.Grid[0]*in.Grid[1])
		want := once / 8 // two columns on each SM of 16 CTAs
		if own {
			want = once
		}
		if asked < 0.95*want || asked > 1.05*want {
			t.Errorf("own lines %v: %.0f sectors asked of L2, want %.0f", own, asked, want)
		}
	}
}
