package clock

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// besideProducts is the cycles of four warps that multiply so many times and four that execute instructions of a class.
func besideProducts(t *testing.T, products, others int, c assemble.Class, sums ir.Type) float64 {
	p := &async{}
	for range 4 {
		p.warp()
		if products > 0 {
			p.products(products, 128, true)
		}
		p.exit()
	}
	for i := range p.kernel.Instrs {
		if m := p.kernel.Instrs[i].Matrix; m != nil {
			m.D = sums
		}
	}
	for range 4 {
		p.warp()
		for range others {
			p.do(c, ir.Instr{Op: ir.Add})
		}
		p.exit()
	}
	return p.cycles(t, "h200", 1)
}

// Integer arithmetic beside products takes twice as long while they last, beside products of sums of halves as long as
// alone. Of single-precision arithmetic and products a cycle takes one or the other.
func TestArithmeticBesideProducts(t *testing.T) {
	const products, others = 100, 4000
	busy := besideProducts(t, products, 0, assemble.ALU, ir.F32) // cycles that products take
	alone := besideProducts(t, 0, others, assemble.ALU, ir.F32)
	within(t, "integers", besideProducts(t, products, others, assemble.ALU, ir.F32), alone+busy/2, 0.05)
	within(t, "integers beside sums of halves", besideProducts(t, products, others, assemble.ALU, ir.F16), alone, 0.02)
	alone = besideProducts(t, 0, 2*others, assemble.FMA, ir.F32)
	within(t, "single precision", besideProducts(t, products, 2*others, assemble.FMA, ir.F32), alone+busy, 0.05)
}
