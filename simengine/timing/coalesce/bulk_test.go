package coalesce

import (
	"math/bits"
	"math/rand"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// The lines of a bulk copy are those that its bytes lie in, sector by sector, and of a store the sectors all of whose
// bytes are written.
func TestBulkCopyTouchesItsBytes(t *testing.T) {
	const seed = 7
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewSource(seed))
	k := &ir.Kernel{Instrs: []ir.Instr{
		{Op: ir.BulkCopy, Bulk: &ir.Bulk{To: ir.Shared, From: ir.Global}},
		{Op: ir.BulkCopy, Bulk: &ir.Bulk{To: ir.Global, From: ir.Shared}},
	}}
	r := NewRecorder(k, 4)
	for n := range 200 {
		r.Begin(0, 1)
		pc := int32(n % 2)
		var ranges []trace.Range
		touched := map[uint64]bool{} // bytes
		at := uint64(rng.Intn(1 << 20))
		for range 1 + rng.Intn(5) {
			b := trace.Range{Addr: at, Bytes: 16 * (1 + rng.Intn(20))}
			ranges = append(ranges, b)
			for i := range b.Bytes {
				touched[at+uint64(i)] = true
			}
			at += uint64(b.Bytes + 16*rng.Intn(30))
		}
		r.Async(0, trace.Async{PC: pc, Barrier: trace.NoBarrier, CTA: -1, Lanes: 1}, ranges)
		w := &r.CTA().Warps[0]
		if len(w.Asyncs) != 1 || len(w.Accesses) != 1 {
			t.Fatalf("%d operations, %d accesses", len(w.Asyncs), len(w.Accesses))
		}
		want := map[uint64]trace.Line{}
		for b := range touched {
			l := want[b/128]
			l.Sectors |= 1 << (b % 128 / 32)
			want[b/128] = l
		}
		for addr, l := range want {
			for s := range uint64(4) {
				whole := pc == 1
				for i := range uint64(32) {
					whole = whole && touched[addr*128+s*32+i]
				}
				if whole {
					l.Full |= 1 << s
				}
			}
			want[addr] = l
		}
		a := w.Accesses[0]
		sectors := 0
		for _, l := range w.Lines[a.First : a.First+int32(a.NLines)] {
			sectors += bits.OnesCount8(l.Sectors)
			// Parts of a sector that two ranges fill are not known to be full together.
			if x := want[l.Addr]; x.Sectors != l.Sectors || l.Full&^x.Full != 0 {
				t.Fatalf("copy %v: line %d is %+v, want %+v", ranges, l.Addr, l, x)
			}
			delete(want, l.Addr)
		}
		if len(want) > 0 || int(a.Sectors) != sectors {
			t.Fatalf("copy %v: lines %v are missing, %d sectors of %d", ranges, want, a.Sectors, sectors)
		}
	}
}

// A prefetch of more lines than an access can name counts the first ones, each with its sectors.
func TestBulkPrefetchOfMuch(t *testing.T) {
	r := NewRecorder(&ir.Kernel{Instrs: []ir.Instr{{Op: ir.BulkPrefetch, Bulk: &ir.Bulk{From: ir.Global}}}}, 4)
	r.Begin(0, 1)
	r.Async(0, trace.Async{Barrier: trace.NoBarrier, CTA: -1, Lanes: 1}, []trace.Range{{Addr: 1 << 20, Bytes: 1 << 30}})
	w := &r.CTA().Warps[0]
	if a := w.Accesses[0]; int(a.NLines) != maxBulkLines || int(a.Sectors) != 4*maxBulkLines || len(w.Lines) != maxBulkLines {
		t.Errorf("%d lines of %d, %d sectors; want %d lines with 4 sectors each", a.NLines, len(w.Lines), a.Sectors, maxBulkLines)
	}
}

// A trace that was recorded before leaves no asynchronous operation behind, and a copy of a trace has its own.
func TestAsyncsAreRecordedByStep(t *testing.T) {
	r := NewRecorder(&ir.Kernel{Instrs: []ir.Instr{{Op: ir.MbarArrive}}}, 4)
	for range 2 {
		r.Begin(0, 1)
		r.Step(0, 0, 1)
		r.Async(0, trace.Async{Barrier: 64, Lanes: 1, Count: 1}, nil)
		r.Async(0, trace.Async{Barrier: 72, Lanes: 1, Count: 1}, nil)
		r.Step(0, 1, 1)
		r.Repeat(0, 0, 3)
	}
	c := Clone(r.CTA())
	r.Begin(0, 1)
	var at []int32
	for _, s := range c.Warps[0].Steps {
		at = append(at, s.Async)
	}
	if !slices.Equal(at, []int32{0, 2, 2}) || len(c.Warps[0].Asyncs) != 2 || c.Warps[0].Asyncs[1].Barrier != 72 {
		t.Errorf("steps begin at %v of %v", at, c.Warps[0].Asyncs)
	}
}
