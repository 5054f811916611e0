package ideal

import (
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// Idealised traces ask for no more than the trace does and are well formed, and the trace stays as it is.
func TestTracesAskForLess(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld, Space: ir.Global}, {Op: ir.St, Space: ir.Global}, {Op: ir.Ld, Space: ir.Shared}, {Op: ir.Atom, Atom: ir.AtomAdd, Space: ir.Global}, {Op: ir.Bar}}}
	k.Blocks = []ir.Block{{Start: 0, End: 2}, {Start: 2, End: 4}, {Start: 4, End: 5}}
	for range 300 {
		c := randomCTA(r, k)
		before := coalesce.Clone(c)
		set := Set(r.Uint32()) & All
		out, err := set.Traces(&assemble.Program{Kernel: k}, d, func(int64) (*trace.CTA, error) { return c, nil })(0)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, c) {
			t.Fatalf("seed %d, %s: the trace itself is changed", seed, set)
		}
		a, b := sums(t, c), sums(t, out)
		for i := range a {
			if b[i] > a[i] {
				t.Fatalf("seed %d, %s: %v of steps, accesses, sectors, passes and lines, and %v as it is", seed, set, b, a)
			}
		}
		if set.Has(Coalescing) && !set.Has(L1) && !set.Has(Divergence) && b[2] > b[5] {
			t.Fatalf("seed %d, %s: %d sectors, and the bytes fill %d", seed, set, b[2], b[5])
		}
	}
}

// sums are the steps, accesses, sectors, passes and lines of a CTA, and the sectors that bytes fill or that atomics touch.
func sums(t *testing.T, c *trace.CTA) (n [6]int) {
	t.Helper()
	for i := range c.Warps {
		w := &c.Warps[i]
		n[0] += len(w.Steps)
		n[1] += len(w.Accesses)
		last := int32(0)
		for _, s := range w.Steps {
			if s.Access < last || int(s.Access) > len(w.Accesses) {
				t.Fatalf("step begins at access %d of %d, after %d", s.Access, len(w.Accesses), last)
			}
			last = s.Access
		}
		for j := range w.Accesses {
			a := &w.Accesses[j]
			n[2] += int(a.Sectors)
			n[3] += int(a.Passes)
			n[4] += int(a.NLines)
			got := 0
			if a.NLines > 0 {
				for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
					got += bits.OnesCount8(l.Sectors)
				}
				if got != int(a.Sectors) {
					t.Fatalf("%d sectors in lines, %d said", got, a.Sectors)
				}
			}
			if a.PC == 3 {
				n[5] += int(a.Sectors)
			} else {
				n[5] += (bits.OnesCount32(a.Mask)*int(a.Width) + 31) / 32
			}
		}
	}
	return n
}

// randomCTA is a trace of a few warps.
func randomCTA(r *rand.Rand, k *ir.Kernel) *trace.CTA {
	rec := coalesce.NewRecorder(k, 4)
	warps := 1 + r.IntN(4)
	rec.Begin(0, warps)
	for w := range warps {
		for range r.IntN(12) {
			mask := []uint32{^uint32(0), 0xffff, 0x55555555, 1 << r.IntN(32)}[r.IntN(4)]
			block := r.IntN(len(k.Blocks))
			if block == 2 {
				mask = ^uint32(0)
			}
			rec.Step(w, block, mask)
			for pc := k.Blocks[block].Start; pc < k.Blocks[block].End; pc++ {
				var addr coalesce.Lanes
				stride := []uint64{0, 4, 8, 128, 4096}[r.IntN(5)]
				base := uint64(r.IntN(64)) * 128
				for i := range addr {
					addr[i] = base + uint64(i)*stride
				}
				if in := &k.Instrs[pc]; in.Op != ir.Bar {
					rec.Access(w, int(pc), in.Space, 4, mask, &addr)
				}
			}
		}
	}
	return coalesce.Clone(rec.CTA())
}

// Nothing is made anew where nothing is asked for, and a program without spills and barriers has the rest.
func TestNothingAskedFor(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	p := &assemble.Program{SpillBytes: 8, LocalBytes: 12, Blocks: []assemble.Block{{Instrs: []assemble.Instr{
		{Class: assemble.Load, Source: -1, Space: ir.Local}, {Class: assemble.Barrier, Source: 1}, {Class: assemble.ALU, Source: 2},
	}}}}
	if Set(0).Machine(d) != d || Set(0).Program(p) != p || (Banks|L1).Machine(d) != d || Latency.Program(p) != p {
		t.Error("something is copied for nothing")
	}
	q := (Spills | Barriers).Program(p)
	if q.SpillBytes != 0 || q.LocalBytes != 4 || len(q.Blocks[0].Instrs) != 2 || q.Blocks[0].Instrs[0].Class != assemble.Control || len(p.Blocks[0].Instrs) != 3 || p.Blocks[0].Instrs[1].Class != assemble.Barrier {
		t.Errorf("%+v of %+v", q, p)
	}
	All.Each(func(m Set) {
		if back, err := Parse(m.String()); err != nil || back != m {
			t.Errorf("%s is read as %v (%v)", m, back, err)
		}
	})
	if _, err := Parse("magic"); err == nil {
		t.Error("magic is a mechanism")
	}
}
