package timing

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/reuse"
	"github.com/warptune/warptune/simengine/trace"
)

// CTAs that start together on an SM are as far apart as on an H200
// (deploy/calibrate/microbench/launch.cu), in the median.
func TestPlacementAgainstH200(t *testing.T) {
	d := h200(t)
	in := Input{Arch: d, Grid: [3]int{1 << 16, 1, 1}}
	p := NewPlacement(&in, 8)
	n := 0
	for _, m := range measured(t, "launch.apart") {
		if m.int("percentile") != 50 {
			continue
		}
		n++
		for k := int64(1); k < 8; k++ {
			if got := p.at(k)[0] - p.at(k - 1)[0]; float64(got) != m.Value {
				t.Errorf("CTAs %d and %d of an SM are %d apart, measured %.0f", k-1, k, got, m.Value)
			}
		}
	}
	if n == 0 {
		t.Error("nothing was measured")
	}
}

// Of a grid 8 CTAs wide an SM of 132 begins with two columns, and has all of them later.
func TestSharersOfColumns(t *testing.T) {
	in := Input{Arch: h200(t), Grid: [3]int{8, 4096, 1}}
	p := NewPlacement(&in, 32)
	const x, y = reuse.Axes(1), reuse.Axes(2)
	if got := p.Sharers(x, 32); got != 16 {
		t.Errorf("%.1f CTAs share a column in the first wave, want 16", got)
	}
	if got := p.Sharers(x, 128); got < 4 || got > 6 {
		t.Errorf("%.1f CTAs share a column in four waves, want about 5", got)
	}
	if got := p.Sharers(y, 32); got != 1 {
		t.Errorf("%.1f CTAs share a row, want 1", got)
	}
	if got := p.Sharers(x|y, 128); got != 1 {
		t.Errorf("%.1f CTAs are the same one", got)
	}
}

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
