package clock

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
)

// slowPath is a timing.SlowPath in machine code: a division, reciprocal or root that calls a
// routine for operands out of the ordinary (denormals, overflow).
type slowPath struct {
	shares [ir.NumPaths]float64
	start  [ir.NumPaths + 1]int32       // ops of the paths, one after another
	mean   [assemble.NumClasses]float64 // instructions of each class that one execution adds
	lanes  float64
}

// addSlowPaths lowers the routines of slow paths, behind the code of the blocks.
func (c *code) addSlowPaths(m *cost.Machine, slowPaths []timing.SlowPath) error {
	c.extra = make([][]int32, len(c.program.Blocks))
	for b := range c.program.Blocks {
		op := c.start[b] - 1
		for i := range c.program.Blocks[b].Instrs {
			in := &c.program.Blocks[b].Instrs[i]
			if in.Class != assemble.WgmmaPart {
				op++
			}
			d := cost.SlowPathOf(in, slowPaths)
			if d == nil {
				continue
			}
			at, err := c.addSlowPath(m, d)
			if err != nil {
				return err
			}
			c.extra[b] = append(c.extra[b], at)
			c.ops[op].slowPath = at + 1
		}
	}
	return nil
}

func (c *code) addSlowPath(m *cost.Machine, d *timing.SlowPath) (int32, error) {
	t := slowPath{shares: d.Shares}
	c.before = nil
	for p := range ir.NumPaths {
		t.start[p] = int32(len(c.ops))
		routine := assemble.SlowPath(&c.program.Kernel.Instrs[d.PC], p)
		for i := range routine {
			o, err := c.lower(m, &routine[i])
			if err != nil {
				return 0, err
			}
			c.ops = append(c.ops, o)
			t.mean[o.class] += d.Shares[p]
			t.lanes += d.Lanes[p]
		}
	}
	t.start[ir.NumPaths] = int32(len(c.ops))
	c.slowPaths = append(c.slowPaths, t)
	return int32(len(c.slowPaths) - 1), nil
}

// addSlowPaths adds what executing block b n times takes of slow paths in the mean.
func (t *counts) addSlowPaths(c *code, b int32, n int64) {
	if c.extra == nil {
		return
	}
	for _, at := range c.extra[b] {
		t.threads += int64(math.Round(c.slowPaths[at].lanes * float64(n)))
		for cl, mean := range c.slowPaths[at].mean {
			if mean == 0 {
				continue
			}
			t.slow[cl] += mean * float64(n)
			whole := int64(t.slow[cl])
			t.slow[cl] -= float64(whole)
			t.class[cl] += whole
			t.instrs += whole
		}
	}
}

// enterSlowPath sends a warp that executes the call of a slow path into the routine as often as
// warps of the launch take it. Which warps do and which do not must not follow a pattern that
// they could run into: additive recurrences of each warp and call decide (M. Roberts, "The
// unreasonable effectiveness of quasirandom sequences", 2018).
func (s *sm) enterSlowPath(w *warp, at int32) {
	const (
		turn  = 0.6180339887498949 // of x^2 = x + 1
		among = 0.7548776662466927 // of x^3 = x + 1, and its square
		calls = 0.5698402909980532
	)
	d := &s.c.slowPaths[at]
	w.turns++
	phase := float64(w.sub)*among + float64(w.slot)*turn + float64(at)*calls
	if !below(phase+float64(w.turns)*turn, d.shares[ir.PathEntered]) {
		return
	}
	w.back, w.backEnd, w.slowPath, w.paths = w.pc+1, w.end, at, 1<<ir.PathEntered
	for p := ir.PathEntered + 1; p < ir.NumPaths; p++ {
		if d.shares[p] > 0 && below(phase+float64(w.turns)*among+float64(p)*calls, d.shares[p]/d.shares[ir.PathEntered]) {
			w.paths |= 1 << p
		}
	}
	w.end = w.pc + 1
}

// below reports whether the fraction of a number is less than a share.
func below(v, share float64) bool { return v-math.Floor(v) < share }

// nextPath moves a warp to the next path of the routine that it takes, and at last back to
// where it called the routine. It reports whether the warp was in a slow path.
func (s *sm) nextPath(w *warp) bool {
	if w.back == 0 {
		return false
	}
	for p := range ir.NumPaths {
		if w.paths>>p&1 == 0 {
			continue
		}
		w.paths &^= 1 << p
		d := &s.c.slowPaths[w.slowPath]
		if d.start[p] < d.start[p+1] {
			w.pc, w.end = d.start[p], d.start[p+1]
			return true
		}
	}
	w.pc, w.end, w.back = w.back, w.backEnd, 0
	return true
}
