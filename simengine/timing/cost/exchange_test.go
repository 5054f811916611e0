package cost

import (
	"math"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// Who sends what mbarriers expect is read off what they expect and what their CTA copies, each mbarrier by itself. Whatever
// the way, a phase gets exactly what it expects.
func TestExchanges(t *testing.T) {
	k := &ir.Kernel{Instrs: []ir.Instr{
		{Op: ir.MbarArrive, Mod: ir.ModTx},
		{Op: ir.BulkCopy, Bulk: &ir.Bulk{To: ir.Shared, From: ir.Global, Barrier: true}},
	}}
	const bar, a, b = 64, 16384, 32768
	own := trace.Async{PC: 1, Barrier: bar, CTA: -1, Lanes: 1, Bytes: a}
	toBoth := func(bytes int32) trace.Async {
		return trace.Async{PC: 1, Barrier: bar, CTA: -1, Lanes: 1, Bytes: bytes, To: 3}
	}
	for _, c := range []struct {
		name    string
		cluster int
		copies  []trace.Async
		want    Exchange
	}{
		{"no cluster", 1, []trace.Async{own, {PC: 1, Barrier: bar, CTA: -1, Lanes: 1, Bytes: b}}, Exchange{}},
		{"each sends half", 2, []trace.Async{own, toBoth(b / 2)}, Exchange{}},
		{"this one sends all", 2, []trace.Async{own, toBoth(b)}, Exchange{Alone: true}},
		{"the other sends", 2, []trace.Async{own}, Exchange{Lacking: 2.0 / 3}},
		{"the other sends everything", 2, nil, Exchange{Lacking: 1}},
	} {
		expect := trace.Async{PC: 0, Barrier: bar, CTA: -1, Lanes: 1, Bytes: a + b}
		if c.name == "the other sends everything" {
			expect.Bytes = b
		}
		cta := &trace.CTA{Warps: []trace.Warp{{Asyncs: append([]trace.Async{expect}, c.copies...)}}}
		x := Exchanges(k, cta, c.cluster)[bar]
		if x.Alone != c.want.Alone || math.Abs(x.Lacking-c.want.Lacking) > 1e-9 {
			t.Errorf("%s: %+v, want %+v", c.name, x, c.want)
		}
		left := Expected(&expect) - x.Sent(&expect)
		for i := range c.copies {
			left -= x.Delivered(c.copies[i].Bytes, c.copies[i].To)
		}
		if left != 0 {
			t.Errorf("%s: %d bytes are never there", c.name, left)
		}
	}
}
