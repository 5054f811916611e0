package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/trace"
)

// dividing is a kernel of n divisions a warp, each a call of its slow path and no more.
func dividing(n int) (*program, func(int64, int) *trace.CTA) {
	p := &program{}
	p.block()
	for range n {
		pc := p.emit(assemble.Branch, ir.Div, 0, -1)
		p.kernel.Instrs[pc].Type = ir.F32
		b := &p.code.Blocks[0]
		b.Instrs[len(b.Instrs)-1].Calls = true
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for i := range t.Warps {
			t.Warps[i].Steps = []trace.Step{{Mask: ^uint32(0)}}
		}
		return t
	}
}

// A slow path is charged to as many warps as take it, and issues what its machine code has.
func TestSlowPathsAreTakenAsOftenAsTheyAreTaken(t *testing.T) {
	const divisions, warps = 64, 8
	d := h200(t)
	lengths := [...]int{ir.PathEntered: 17, ir.PathUndefined: 8}
	cycles := func(share float64) float64 {
		p, tr := dividing(divisions)
		in := input(d, p, tr, d.SMs, 1, warps)
		if share > 0 {
			for pc := range divisions {
				in.SlowPaths = append(in.SlowPaths, timing.SlowPath{PC: int32(pc), Shares: [ir.NumPaths]float64{ir.PathEntered: share, ir.PathUndefined: share / 2},
					Lanes: [ir.NumPaths]float64{ir.PathEntered: 32 * share, ir.PathUndefined: share}})
			}
		}
		r := run(t, in)
		want := float64(d.SMs*warps) * (divisions*(1+share*(float64(lengths[0])+float64(lengths[1])/2)) + 1)
		if got := r.Metrics["smsp__inst_executed.sum"]; got < want*0.999 || got > want*1.001 {
			t.Errorf("share %g: %.0f instructions, want %.0f", share, got, want)
		}
		lanes := float64(d.SMs*warps) * (32*(divisions+1) + divisions*share*float64(32*lengths[0]+lengths[1]))
		if got := r.Metrics["smsp__thread_inst_executed.sum"]; got < lanes*0.999 || got > lanes*1.001 {
			t.Errorf("share %g: %.0f lanes, want %.0f", share, got, lanes)
		}
		if issued := float64(r.Issued) / warps; share > 0 && (issued < want/float64(d.SMs*warps)*0.95 || issued > want/float64(d.SMs*warps)*1.05) {
			t.Errorf("share %g: %.1f instructions clocked of a warp, want %.1f", share, issued, want/float64(d.SMs*warps))
		}
		return r.Cycles
	}
	none, half, all := cycles(0), cycles(0.5), cycles(1)
	if half < 1.5*none || all < 1.5*half || all > 2.2*half {
		t.Errorf("%.0f cycles without, %.0f with every second division and %.0f with all in the slow path", none, half, all)
	}
}
