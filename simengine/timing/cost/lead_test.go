package cost

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
)

// A reload moves up to reloadLead instructions away from its first use, in its block and behind the store of its
// word; what is beside it on the way does not matter.
func TestLeadsOfReloads(t *testing.T) {
	alu := assemble.Instr{Class: assemble.ALU, Spill: -1}
	part := assemble.Instr{Class: assemble.WgmmaPart, Spill: -1}
	use := assemble.Instr{Class: assemble.ALU, Spill: -1, Src: [4]assemble.RegSpan{{First: 9, Count: 1}}}
	spill := func(c assemble.Class, word int16, width uint8) assemble.Instr {
		in := assemble.Instr{Class: c, Source: -1, Space: ir.Local, Spill: word, Width: width}
		if c == assemble.Load {
			in.Dst[0] = assemble.RegSpan{First: 8, Count: 2}
		}
		return in
	}
	times := func(n int, in assemble.Instr) []assemble.Instr { return slices.Repeat([]assemble.Instr{in}, n) }
	reload := spill(assemble.Load, 4, 8)
	for _, c := range []struct {
		name          string
		before, after []assemble.Instr
		want          uint8
	}{
		{"far from the start of the block", times(100, alu), nil, reloadLead},
		{"near the start of the block", times(7, alu), nil, 7},
		{"some way before its use", times(100, alu), times(10, alu), reloadLead - 10},
		{"as far before its use as ptxas has it", times(100, alu), times(reloadLead, alu), 0},
		{"behind the store of its first word", append([]assemble.Instr{spill(assemble.Store, 3, 8)}, times(5, alu)...), nil, 5},
		{"behind the store of its last word", append([]assemble.Instr{spill(assemble.Store, 5, 4)}, times(5, alu)...), nil, 5},
		{"behind stores of the words around it", append([]assemble.Instr{spill(assemble.Store, 2, 8), spill(assemble.Store, 6, 4)}, times(5, alu)...), nil, 7},
		{"behind parts of another instruction", slices.Concat(times(3, alu), times(5, part)), times(4, part), 3},
	} {
		block := slices.Concat(c.before, []assemble.Instr{reload}, c.after, []assemble.Instr{use})
		leads := Leads(block)
		for i, lead := range leads {
			want := uint8(0)
			if i == len(c.before) {
				want = c.want
			}
			if lead != want {
				t.Errorf("%s: instruction %d of %d is %d earlier, want %d", c.name, i, len(block), lead, want)
			}
		}
		if leads == nil {
			t.Errorf("%s: no reload is found", c.name)
		}
	}
	if leads := Leads(append(times(3, alu), use)); leads != nil {
		t.Errorf("a block without reloads has leads %v", leads)
	}
}

// A load from shared memory that an MMA reads moves up to fragmentLead instructions away from it, behind what wrote its
// address and what orders shared memory. One that anything else reads first stays.
func TestLeadsOfFragments(t *testing.T) {
	alu := assemble.Instr{Class: assemble.ALU, Spill: -1}
	span := func(r int) assemble.RegSpan { return assemble.RegSpan{First: assemble.Reg(r), Count: 2} }
	load := assemble.Instr{Class: assemble.Load, Space: ir.Shared, Spill: -1, Width: 8, Dst: [2]assemble.RegSpan{span(8)}, Src: [4]assemble.RegSpan{span(4)}}
	reads := func(c assemble.Class) assemble.Instr {
		return assemble.Instr{Class: c, Spill: -1, Src: [4]assemble.RegSpan{span(20), span(9)}}
	}
	behind := func(in assemble.Instr) []assemble.Instr {
		return append([]assemble.Instr{in}, slices.Repeat([]assemble.Instr{alu}, 3)...)
	}
	far := slices.Repeat([]assemble.Instr{alu}, 30)
	for _, c := range []struct {
		name   string
		before []assemble.Instr
		load   assemble.Instr
		use    assemble.Instr
		want   uint8
	}{
		{"far from the start of the block", far, load, reads(assemble.Tensor), fragmentLead},
		{"what else reads", far, load, reads(assemble.FMA), 0},
		{"global memory", far, assemble.Instr{Class: assemble.Load, Space: ir.Global, Dst: load.Dst}, reads(assemble.Tensor), 0},
		{"behind a barrier", behind(assemble.Instr{Class: assemble.Barrier}), load, reads(assemble.TensorSingle), 3},
		{"behind a wait for copies", behind(assemble.Instr{Class: assemble.Control}), load, reads(assemble.Tensor), 3},
		{"behind a store to shared memory", behind(assemble.Instr{Class: assemble.Store, Space: ir.Shared}), load, reads(assemble.Tensor), 3},
		{"behind a store to global memory", behind(assemble.Instr{Class: assemble.Store, Space: ir.Global}), load, reads(assemble.Tensor), 4},
		{"behind its address", behind(assemble.Instr{Class: assemble.ALU, Dst: [2]assemble.RegSpan{span(5)}}), load, reads(assemble.Tensor), 3},
	} {
		leads := Leads(slices.Concat(c.before, []assemble.Instr{c.load, c.use}))
		got := uint8(0)
		if leads != nil {
			got = leads[len(c.before)]
		}
		if got != c.want {
			t.Errorf("%s: %d instructions earlier, want %d", c.name, got, c.want)
		}
	}
}
