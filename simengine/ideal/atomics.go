package ideal

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/disjoint"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// wordsOf is the words of 32 bits that the lanes of a CTA update by instructions that meet.
type wordsOf struct {
	lines    map[uint64]*trace.Line // by address
	requests int                    // of the CTA, that are not yet given lines
	left     []uint64               // lines that are not yet updated
}

// sumAtomics has each CTA sum its global atomics in shared memory and add what comes of it to each word once: as few
// requests as touch the words, a line each where there are enough of them, update L2, and the others shared memory.
// The first iterations of loops are taken for those requests, for these stand for themselves alone.
func sumAtomics(p *assemble.Program, c *trace.CTA) {
	of := updated(p.Kernel, c)
	if len(of) == 0 {
		return
	}
	most := 0
	for i := range c.Warps {
		c.Warps[i].Lines = slices.Clone(c.Warps[i].Lines)
		most = max(most, len(c.Warps[i].Accesses))
	}
	for j := range most {
		for i := range c.Warps {
			if w := &c.Warps[i]; j < len(w.Accesses) {
				if a := &w.Accesses[j]; summable(p.Kernel, a) {
					of[a.PC].give(p, w, a)
				}
			}
		}
	}
}

// updated is the words that each instruction updates; instructions that have lines in common have the same.
func updated(k *ir.Kernel, c *trace.CTA) map[int32]*wordsOf {
	same, first := disjoint.New(len(k.Instrs)), map[uint64]int32{}
	each := func(f func(*trace.Warp, *trace.Access)) {
		for i := range c.Warps {
			for j := range c.Warps[i].Accesses {
				if a := &c.Warps[i].Accesses[j]; summable(k, a) {
					f(&c.Warps[i], a)
				}
			}
		}
	}
	each(func(w *trace.Warp, a *trace.Access) {
		for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
			if pc, ok := first[l.Addr]; ok {
				same.Join(a.PC, pc)
			} else {
				first[l.Addr] = a.PC
			}
		}
	})
	of := map[int32]*wordsOf{}
	each(func(w *trace.Warp, a *trace.Access) {
		set := same.Find(a.PC)
		if of[set] == nil {
			of[set] = &wordsOf{lines: map[uint64]*trace.Line{}}
		}
		of[a.PC] = of[set]
		of[set].add(w, a)
	})
	return of
}

// summable reports whether an access is an atomic on device memory whose order does not matter: an exchange or a
// compare-and-swap cannot be summed.
func summable(k *ir.Kernel, a *trace.Access) bool {
	in := &k.Instrs[a.PC]
	return (in.Op == ir.Atom || in.Op == ir.Red) && a.Space == ir.Global && a.NLines > 0 && anyOrder(in.Atom)
}

// anyOrder reports whether updates come to the same in any order.
func anyOrder(op ir.AtomOp) bool {
	return op == ir.AtomAdd || op == ir.AtomMin || op == ir.AtomMax || op == ir.AtomAnd || op == ir.AtomOr || op == ir.AtomXor
}

func (s *wordsOf) add(w *trace.Warp, a *trace.Access) {
	for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
		if have := s.lines[l.Addr]; have != nil {
			have.Sectors, have.Words = have.Sectors|l.Sectors, have.Words|l.Words
		} else {
			s.lines[l.Addr] = &l
			s.left = append(s.left, l.Addr)
		}
	}
	s.requests++
}

// give gives a request the next lines to update, or none: then it updates shared memory.
func (s *wordsOf) give(p *assemble.Program, w *trace.Warp, a *trace.Access) {
	if p.IsElected(a.PC) {
		*a = cost.Elect(a)
		a.Turns, a.Passes, a.Ideal = 1, 1, 1
	}
	n := min((len(s.left)+s.requests-1)/s.requests, int(a.NLines))
	s.requests--
	if n == 0 {
		a.Space, a.NLines, a.Sectors = ir.Shared, 0, 0
		return
	}
	words, sectors := 0, 0
	for i, addr := range s.left[:n] {
		l := *s.lines[addr]
		w.Lines[a.First+int32(i)] = l
		words += bits.OnesCount32(l.Words)
		sectors += bits.OnesCount8(l.Sectors)
	}
	s.left = s.left[n:]
	words = max(words*4/max(int(a.Width), 4), 1)
	a.Mask = uint32(1<<min(words, 32) - 1)
	a.NLines, a.Sectors = uint16(n), uint16(sectors)
	a.MaxSame, a.Words, a.Turns = 1, uint8(min(words, 32)), 1
	a.Passes, a.Ideal = min(a.Passes, 1), min(a.Ideal, 1)
	a.Wavefronts = min(a.Wavefronts, uint16(n))
}
