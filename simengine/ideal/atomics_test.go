package ideal

import (
	"math/bits"
	"testing"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// A CTA whose atomics are summed adds to each word that it updates once, by as few requests as have lines enough, in the
// first of its accesses, whatever instruction of several it updates them by; a ticket is drawn as often as before.
func TestAtomicsAreSummed(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	add, inc := ir.Instr{Op: ir.Red, Atom: ir.AtomAdd, Space: ir.Global}, ir.Instr{Op: ir.Atom, Atom: ir.AtomInc, Space: ir.Global}
	k := &ir.Kernel{Instrs: []ir.Instr{add, add, inc}, Blocks: []ir.Block{{Start: 0, End: 3}}}
	rec := coalesce.NewRecorder(k, 4)
	const warps, rounds = 4, 3
	rec.Begin(0, warps)
	words := map[uint64]bool{}
	for w := range warps {
		for round := range rounds {
			rec.Step(w, 0, ^uint32(0))
			for pc := range 2 {
				var addr coalesce.Lanes
				for i := range addr { // 48 words, of which none is in the second half of the second line
					addr[i] = 4 * uint64((w*7+round*5+pc*11+i*3)%48)
					words[addr[i]] = true
				}
				rec.Access(w, pc, ir.Global, 4, ^uint32(0), &addr)
			}
			var ticket coalesce.Lanes
			rec.Access(w, 2, ir.Global, 4, 1, &ticket)
		}
	}
	c := coalesce.Clone(rec.CTA())
	out, err := Atomics.Traces(&assemble.Program{Kernel: k}, d, func(int64) (*trace.CTA, error) { return c, nil })(0)
	if err != nil {
		t.Fatal(err)
	}
	updated, requests, tickets, shared := 0, 0, 0, 0
	for i := range out.Warps {
		w := &out.Warps[i]
		for j := range w.Accesses {
			a := &w.Accesses[j]
			switch {
			case a.PC == 2:
				tickets++
			case a.Space == ir.Shared:
				shared++
			default:
				requests++
				if j > 0 {
					t.Errorf("warp %d updates L2 by its access %d", i, j)
				}
				for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
					updated += bits.OnesCount32(l.Words)
				}
				if int(a.Words) != bits.OnesCount32(a.Mask) || a.MaxSame != 1 {
					t.Errorf("%d words by lanes %x, %d at one", a.Words, a.Mask, a.MaxSame)
				}
			}
		}
	}
	if updated != len(words) || requests != 2 || shared != 2*warps*rounds-requests || tickets != warps*rounds {
		t.Errorf("%d words by %d requests, %d in shared memory, %d tickets; want %d by 2, %d, %d", updated, requests, shared, tickets, len(words), 2*warps*rounds-2, warps*rounds)
	}
}

// Requests of whole sectors in as many lines as lanes have rows are packed into whole lines, and CTAs that have the other
// sectors of the same lines go through other lines.
func TestRowsArePackedIntoLines(t *testing.T) {
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld, Space: ir.Global}}, Blocks: []ir.Block{{Start: 0, End: 1}}}
	seen := map[uint64]uint8{}
	for column := range 4 {
		rec := coalesce.NewRecorder(k, 4)
		rec.Begin(int64(column), 8)
		for w := range 8 {
			rec.Step(w, 0, ^uint32(0))
			var addr coalesce.Lanes
			for i := range addr { // 4 rows of 8 floats
				addr[i] = uint64(4*w+i/8)*4096 + uint64(column*32+i%8*4)
			}
			rec.Access(w, 0, ir.Global, 4, ^uint32(0), &addr)
		}
		c := coalesce.Clone(rec.CTA())
		out, err := Coalescing.Traces(&assemble.Program{Kernel: k}, d, func(int64) (*trace.CTA, error) { return c, nil })(int64(column))
		if err != nil {
			t.Fatal(err)
		}
		for i := range out.Warps {
			a := &out.Warps[i].Accesses[0]
			if a.NLines != 1 || a.Sectors != 4 {
				t.Fatalf("%d lines, %d sectors", a.NLines, a.Sectors)
			}
			l := out.Warps[i].Lines[a.First]
			if seen[l.Addr]&l.Sectors != 0 {
				t.Errorf("column %d: line %d is read again", column, l.Addr)
			}
			seen[l.Addr] |= l.Sectors
		}
	}
	if len(seen) != 32 {
		t.Errorf("%d lines, want the 32 of the rows", len(seen))
	}
}
