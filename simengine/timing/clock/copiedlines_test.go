package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// The load/store unit begins with a copy past L1 once it has asked for each line of those before. What overwrites its address
// waits until then.
func TestCopiesAreAskedForLineByLine(t *testing.T) {
	const copies, chain = 64, 500 // while which the lines come
	cycles := func(n int) float64 {
		lines := make([]trace.Line, n)
		for i := range lines {
			lines[i] = trace.Line{Addr: uint64(i), Sectors: 0xf}
		}
		p, tr := repeated(assemble.AsyncCopy, ir.CpAsync, ir.Global, copies, trace.Access{Width: 16, Passes: 1, Ideal: 1, Sectors: uint16(4 * n)}, lines)
		p.kernel.Module = &ir.Module{Target: "sm_90a"}
		for pc := range p.kernel.Instrs {
			p.kernel.Instrs[pc].Mod |= ir.ModBypassL1
		}
		code := p.code.Blocks[0].Instrs
		for i := range code[:copies] {
			code[i].Dst, code[i].Src = [2]assemble.RegSpan{}, [4]assemble.RegSpan{reg(4)}
		}
		written := assemble.Instr{Class: assemble.ALU, Source: -1, Spill: -1, Carried: -1, Dst: [2]assemble.RegSpan{reg(4)}, Src: [4]assemble.RegSpan{reg(4)}}
		body := code[:copies:copies]
		for range chain {
			body = append(body, written)
		}
		p.code.Blocks[0].Instrs = append(body, code[copies])
		return run(t, input(h200(t), p, tr, 1, 1, 1)).Cycles
	}
	want := float64(copies*(8-2)*cost.CopyLineSteps) / dram.Fraction
	if two, eight := cycles(2), cycles(8); eight-two < want*0.9 {
		t.Errorf("copies of eight lines take %.0f cycles longer than of two, want %.0f", eight-two, want)
	}
}
