package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Two warps meet at a barrier of their own, of which the other two know nothing, and work before all meet; the others work
// after that. The kernel has no asynchronous operations. The work of the others does not begin before the first two's ends.
func TestBarriersOfAPartOfTheCTA(t *testing.T) {
	const chain = 500
	d := h200(t)
	cycles := func(before, after bool) float64 {
		p := &program{}
		barrier := func(src ...uint64) {
			in := &p.kernel.Instrs[p.emit(assemble.Barrier, ir.Bar, 0, -1)]
			for _, v := range src {
				in.Src = append(in.Src, ir.ImmOperand(v))
			}
		}
		work := func(some bool) int {
			b := p.block()
			for range chain {
				if some {
					p.emit(assemble.FMA, ir.Fma, 0, 1, 1)
				}
			}
			p.emit(assemble.FMA, ir.Fma, 0, 1, 1)
			return b
		}
		part := p.block()
		barrier(1, 64)
		first := work(before)
		all := p.block()
		barrier(0)
		second := work(after)
		end := p.block()
		p.emit(assemble.Exit, ir.Exit, 0, -1)
		return run(t, input(d, p, eachWarp(func(_ int64, _, k int, w *trace.Warp) {
			blocks := []int{part, first, all, end}
			if k >= 2 {
				blocks = []int{all, second, end}
			}
			for _, b := range blocks {
				w.Steps = append(w.Steps, trace.Step{Block: int32(b), Mask: ^uint32(0)})
			}
		}), d.SMs, 1, 4)).Cycles
	}
	none := cycles(false, false)
	one, other, both := cycles(true, false)-none, cycles(false, true)-none, cycles(true, true)-none
	if one < chain || other < chain || both < 0.98*(one+other) {
		t.Errorf("work before the barrier takes %.0f cycles, work after it %.0f, and both %.0f", one, other, both)
	}
}

// Warps meet by the number that a register has: the first with the third, the second with the fourth, which come later. By
// their places in the CTA the first would meet with the second at once.
func TestBarriersByNumbersInRegisters(t *testing.T) {
	const chain = 4000
	cycles := func(before, after int) float64 {
		p := &async{}
		for k := range 4 {
			p.warp()
			p.init(0, 1)
			if k >= 2 {
				p.busy(before)
			}
			number := int32(1 + k%2)
			in := ir.Instr{Op: ir.Bar, Src: []ir.Operand{{Kind: ir.OperandReg}, ir.ImmOperand(64)}}
			p.at(assemble.Barrier, in, trace.Async{Barrier: trace.NoBarrier, Count: number})
			if k < 2 {
				p.busy(after)
			}
			p.exit()
		}
		return p.cycles(t, "h100", 1)
	}
	one, both := cycles(chain, 0)-cycles(0, 0), cycles(chain, chain)-cycles(0, 0)
	if one < 0.9*chain || both < 1.9*chain {
		t.Errorf("work before the barriers takes %.0f cycles, and with work of others behind them %.0f", one, both)
	}
}
