package clock

import (
	"math"
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// Of warps that could always issue the oldest are done first, as on an H200
// (deploy/calibrate/microbench/together.cu). Each is a CTA here, one after another in the
// sub-partitions.
func TestTurnsAgainstH200(t *testing.T) {
	d := h200(t)
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.block()
	for range 32 {
		for k := range 8 {
			p.emit(assemble.FMA, ir.Fma, 0, 10+k, 10+k)
		}
	}
	p.emit(assemble.Branch, ir.Bra, 0, -1)
	p.block()
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	times := func(each int) (mean, last float64) {
		warps := 4 * each
		in := input(d, p, inTurns(64), warps*d.SMs, warps, 1)
		s := readied(t, in)()
		if err := s.run(int64(warps), false); err != nil {
			t.Fatal(err)
		}
		for _, at := range s.done {
			mean += float64(at-s.m.ColdStart) / float64(warps)
		}
		return mean, float64(slices.Max(s.done) - s.m.ColdStart)
	}
	alone, _ := times(1)
	for _, m := range measured.Of(t, "together.turns") {
		got, last := times(m.Int("warps_per_scheduler"))
		if m.Params["of"] == "last warp" {
			got = last
		}
		got /= alone
		t.Logf("%d warps of a scheduler, %s: %.2f times one alone, measured %.2f", m.Int("warps_per_scheduler"), m.Params["of"], got, m.Value)
		if math.Abs(got/m.Value-1) > 0.1 {
			t.Errorf("%d warps of a scheduler, %s: %.2f times one alone, measured %.2f", m.Int("warps_per_scheduler"), m.Params["of"], got, m.Value)
		}
	}
}

// The first warps of CTAs that follow each other are in the sub-partitions that an H200
// has them in (deploy/calibrate/microbench/launch.cu).
func TestFirstWarpsAgainstH200(t *testing.T) {
	d := h200(t)
	n := 0
	for _, m := range measured.Of(t, "launch.turn") {
		warps := m.Int("warps")
		in := input(d, oneExit(), inTurns(0), d.SMs, 4, warps)
		s := readied(t, in)()
		for cta := 1; cta < 4; cta++ {
			by := (s.warps[cta*warps].sub - s.warps[(cta-1)*warps].sub + 4) % 4
			if (int(by) == m.Int("by")) != (m.Value > 0.5) {
				t.Errorf("%d warps: CTA %d begins %d sub-partitions after the one before; measured: by %d in %.0f %%", warps, cta, by, m.Int("by"), 100*m.Value)
			}
		}
		n++
	}
	if n == 0 {
		t.Error("nothing was measured")
	}
}

// oneExit is a program that ends at once.
func oneExit() *program {
	p := &program{}
	for range 3 {
		p.block()
		p.emit(assemble.Exit, ir.Exit, 0, -1)
	}
	return p
}

// readied makes SMs that are ready to run a launch.
func readied(t *testing.T, in timing.Input) func() *sm {
	t.Helper()
	m, err := cost.NewMachine(in.Arch)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile(m, in.Program, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := gather(m, c, &in)
	if err != nil {
		t.Fatal(err)
	}
	return func() *sm { return newSM(m, c, &in, p, float64(in.Arch.SMs)) }
}
