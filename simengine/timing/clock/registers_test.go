package clock

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// fmaTurns is the loop of deploy/calibrate/microbench/registers.cu: a turn of 512 FMAs over n
// accumulators, rows of which share an operand where the pattern is "outer".
func fmaTurns(pattern string, n, rows, turns int) (*program, func(cta int64, warps int) *trace.CTA) {
	const body = 512
	accs, x, y := 1, 80, 160
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.block()
	for i := range body / n * n {
		acc := accs + i%n
		switch k := i % n; pattern {
		case "scaled":
			p.emit(assemble.FMA, ir.Fma, 0, acc, acc, x, accs+(k+1)%n)
		case "outer":
			p.emit(assemble.FMA, ir.Fma, 0, acc, x+k/(n/rows), y+k%(n/rows), acc)
		case "apart":
			p.emit(assemble.FMA, ir.Fma, 0, acc, x+k, y+k, acc)
		}
	}
	p.emit(assemble.Branch, ir.Bra, 0, -1)
	p.block()
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, inTurns(turns)
}

// inTurns is the CTAs of a program of three blocks that go through the middle one so often.
func inTurns(turns int) func(cta int64, warps int) *trace.CTA {
	return func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			w := &t.Warps[k]
			w.Steps = append(w.Steps, trace.Step{Block: 0, Mask: ^uint32(0)})
			for range turns {
				w.Steps = append(w.Steps, trace.Step{Block: 1, Mask: ^uint32(0)})
			}
			w.Steps = append(w.Steps, trace.Step{Block: 2, Mask: ^uint32(0)})
		}
		return t
	}
}

// turnCycles is what a turn through a body takes on an SM of so many warps, in cycles.
func turnCycles(t *testing.T, d *arch.Descriptor, warps int, body func(p *program)) float64 {
	t.Helper()
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.block()
	body(p)
	p.emit(assemble.Branch, ir.Bra, 0, -1)
	p.block()
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	cycles := func(turns int) float64 {
		return run(t, input(d, p, inTurns(turns), d.SMs, 1, warps)).TimeUS * d.ClockMHz
	}
	return (cycles(64) - cycles(32)) / 32
}

// What instructions of the fp64 pipe leave of the issue slot, by the pairs of registers that
// they read, must be what an H200 gives (deploy/calibrate/microbench/pipes.cu).
func TestPairReadsAgainstH200(t *testing.T) {
	d := h200(t)
	for _, c := range []struct {
		op            string
		pairs, floats int
	}{{"dfma_3pairs", 3, 0}, {"mix_pair_2ffma", 1, 2}, {"mix_2pairs_2ffma", 2, 2}, {"mix_3pairs_2ffma", 3, 2}} {
		body := func(p *program) {
			for i := range 64 {
				chain := 20 * (i % 4)
				p.emit(assemble.FP64, ir.Fma, 0, chain, []int{chain, chain + 2, chain + 4}[:c.pairs]...)
				for k := range c.floats {
					p.emit(assemble.FMA, ir.Fma, 0, chain+6+k, chain+6+k, 100, 101)
				}
			}
		}
		got := 16 * float64(64*(1+c.floats)) / turnCycles(t, d, 16, body)
		var want float64
		for _, m := range measured.Of(t, "pipe.rate") {
			if m.Params["op"] == c.op && m.Int("warps") == 16 {
				want = m.Value
			}
		}
		t.Logf("%s: %.2f instructions a cycle, measured %.2f", c.op, got, want)
		if math.Abs(got/want-1) > 0.15 {
			t.Errorf("%s: %.2f instructions a cycle, measured %.2f", c.op, got, want)
		}
	}
}

// What instructions leave of the issue slot to sums of floats beside them must be what an
// H200 gives (deploy/calibrate/microbench/slots.cu). Of fewer than three some wait for the half of the
// fp32 lanes in which products are, which is not modelled; of fewer than eight a load from
// global memory, whose lines are not in this loop, takes up to 19 % more than is said.
func TestSlotsAgainstH200(t *testing.T) {
	d := h200(t)
	for _, c := range []struct {
		op    string
		class assemble.Class
		what  ir.Op
		space ir.Space
		reads int
		least int
	}{
		{"mul_wide", assemble.IMADWide, ir.Mul, 0, 2, 3},
		{"mul_hi", assemble.IMADHigh, ir.Mul, 0, 2, 3},
		{"mad_lo", assemble.FMAHeavy, ir.Mad, 0, 2, 3},
		{"shf", assemble.ALU, ir.Shf, 0, 1, 3},
		{"shfl", assemble.Shuffle, ir.Shfl, 0, 1, 3},
		{"ld_global", assemble.Load, ir.Ld, ir.Global, 2, 8},
		{"ld_shared", assemble.Load, ir.Ld, ir.Shared, 1, 3},
		{"st_global", assemble.Store, ir.St, ir.Global, 3, 3},
	} {
		for _, m := range measured.Of(t, "slots.beside") {
			sums := m.Int("sums")
			if m.Params["op"] != c.op || sums < c.least {
				continue
			}
			got := turnCycles(t, d, 32, func(p *program) {
				for i := range 16 {
					p.emit(c.class, c.what, c.space, 60+i%2, []int{50 + i%2, 52, 53}[:c.reads]...)
					for k := range m.Int("others") {
						p.emit(assemble.ALU, ir.Xor, 0, 70+k, 70+k, 54)
					}
					for k := range sums {
						p.emit(assemble.FMA, ir.Add, 0, (i*sums+k)%4, (i*sums+k)%4)
					}
				}
			}) / (16 * 8)
			t.Logf("%s beside %d sums: %.2f cycles, measured %.2f", c.op, sums, got, m.Value)
			if math.Abs(got/m.Value-1) > 0.08 {
				t.Errorf("%s beside %d sums: %.2f cycles, measured %.2f", c.op, sums, got, m.Value)
			}
		}
	}
}

// What FMAs cost by the registers they read must be what an H200 gives. The real
// assembler numbers some patterns worse than others; ours has no banks to choose.
func TestRegisterReadsAgainstH200(t *testing.T) {
	d := h200(t)
	var sum float64
	var n int
	for _, m := range measured.Of(t, "registers.rate") {
		pattern, _ := m.Params["pattern"].(string)
		if m.Int("warps") != 16 {
			continue
		}
		cycles := func(turns int) float64 {
			p, tr := fmaTurns(pattern, m.Int("accumulators"), m.Int("rows"), turns)
			return run(t, input(d, p, tr, d.SMs, 1, 16)).TimeUS * d.ClockMHz
		}
		acc := m.Int("accumulators")
		got := 16 * 8 * float64(512/acc*acc) / (cycles(16) - cycles(8))
		e := got/m.Value - 1
		sum += math.Abs(e)
		n++
		t.Logf("%-6s %2d accumulators in %2d rows: %.2f a cycle, measured %.2f, %+5.1f%%", pattern, acc, m.Int("rows"), got, m.Value, 100*e)
		if math.Abs(e) > 0.15 {
			t.Errorf("%s of %d accumulators in %d rows: %.2f a cycle, measured %.2f", pattern, acc, m.Int("rows"), got, m.Value)
		}
	}
	if mean := sum / float64(n); mean > 0.06 {
		t.Errorf("mean error %.1f%% of %d measurements", 100*mean, n)
	}
}

// An operand that the instruction before read in the same place need not be
// fetched, in either factor; one that it read elsewhere must be.
func TestFreshRegisters(t *testing.T) {
	fma := func(a, b, c int) *assemble.Instr {
		in := &assemble.Instr{Class: assemble.FMA}
		in.Src[0], in.Src[1], in.Src[2] = reg(a), reg(b), reg(c)
		return in
	}
	for _, c := range []struct {
		name       string
		in, before *assemble.Instr
		want       int
	}{
		{"first", fma(1, 2, 3), nil, 3},
		{"a square", fma(1, 1, 3), nil, 2},
		{"nothing in common", fma(1, 2, 3), fma(4, 5, 6), 3},
		{"a common factor", fma(1, 2, 3), fma(1, 5, 6), 2},
		{"factors traded", fma(1, 2, 3), fma(5, 1, 6), 2},
		{"a factor that was the addend", fma(1, 2, 3), fma(4, 5, 1), 3},
		{"an addend that was a factor", fma(1, 2, 3), fma(3, 5, 6), 3},
	} {
		if got := cost.OperandFetches(c.in, c.before); got != c.want {
			t.Errorf("%s: %d registers to fetch, want %d", c.name, got, c.want)
		}
	}
}
