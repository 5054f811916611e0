package ideal

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// What a CTA does once is what stands before the barrier ahead of its first load, and from where threads combine what
// they have after the last one; loops of loads are one part.
func TestOncePerCTA(t *testing.T) {
	load, store := ir.Instr{Op: ir.Ld, Space: ir.Global}, ir.Instr{Op: ir.St, Space: ir.Global}
	put, get := ir.Instr{Op: ir.St, Space: ir.Shared}, ir.Instr{Op: ir.Ld, Space: ir.Shared}
	add, bar, shuffle, exit := ir.Instr{Op: ir.Add}, ir.Instr{Op: ir.Bar}, ir.Instr{Op: ir.Shfl}, ir.Instr{Op: ir.Exit}
	for _, tt := range []struct {
		about  string
		instrs []ir.Instr
		loop   [2]int // first and last instruction of a loop; none if both are 0
		once   []int  // instructions
	}{
		{"a tree", []ir.Instr{add, load, add, put, bar, get, add, store, exit}, [2]int{}, []int{3, 4, 5, 6, 7}},
		{"shuffles", []ir.Instr{load, shuffle, add, store, exit}, [2]int{}, []int{1, 2, 3}},
		{"a private copy", []ir.Instr{put, bar, load, add, bar, get, store, exit}, [2]int{2, 3}, []int{0, 1, 4, 5, 6}},
		{"barriers in the loop that loads", []ir.Instr{add, bar, load, put, bar, get, store, exit}, [2]int{1, 5}, nil},
		{"nothing is combined", []ir.Instr{add, load, add, store, exit}, [2]int{}, nil},
		{"nothing is loaded", []ir.Instr{put, bar, get, store, exit}, [2]int{}, nil},
	} {
		k := &ir.Kernel{Instrs: tt.instrs}
		for pc := range tt.instrs { // a block each
			b := ir.Block{Start: pc, End: pc + 1, Succs: []int{pc + 1}}
			if pc == tt.loop[1] && pc > 0 {
				b.Succs = append(b.Succs, tt.loop[0])
			}
			if pc == len(tt.instrs)-1 {
				b.Succs = nil
			}
			k.Blocks = append(k.Blocks, b)
		}
		var got []int
		for pc, once := range OncePerCTA(k) {
			if once {
				got = append(got, pc)
			}
		}
		if !slices.Equal(got, tt.once) {
			t.Errorf("%s: %v, want %v", tt.about, got, tt.once)
		}
	}
}
