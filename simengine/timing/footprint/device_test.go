package footprint

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
)

func reg(r ir.Reg) ir.Operand {
	return ir.Operand{Kind: ir.OperandReg, Reg: r}
}

// A fetch at coordinates of the thread's index and of parameters gathers nothing. One where memory says where does, be it
// a buffer, shared memory or another fetch, even if a loop brings it there.
func TestByIndex(t *testing.T) {
	const index, scale, at, data, moved, texel, next = 0, 1, 2, 3, 4, 5, 6
	instr := func(op ir.Op, space ir.Space, dst ir.Reg, src ...ir.Reg) ir.Instr {
		in := ir.Instr{Op: op, Space: space, Dst: []ir.Reg{dst}, Guard: ir.NoReg}
		for _, r := range src {
			in.Src = append(in.Src, reg(r))
		}
		return in
	}
	for _, from := range []ir.Space{ir.Global, ir.Shared, ir.Local, ir.Const, ir.ParamSpace} {
		k := &ir.Kernel{Regs: make([]ir.RegInfo, 7), Instrs: []ir.Instr{
			instr(ir.Tex, 0, texel, moved), // data comes round the loop, twice
			instr(ir.Add, 0, moved, at, data),
			instr(ir.Ld, ir.ParamSpace, scale),
			instr(ir.Mul, 0, at, index, scale),
			instr(ir.Tex, 0, texel, at),
			instr(ir.Ld, from, data),
			instr(ir.Tex, 0, next, texel),
		}}
		told := from == ir.Const || from == ir.ParamSpace
		if got, want := byIndex(k), []bool{told, false, false, false, true, false, false}; !slices.Equal(got, want) {
			t.Errorf("data from space %v: texels by index %v, want %v", from, got, want)
		}
	}
	if got := byIndex(&ir.Kernel{Instrs: []ir.Instr{instr(ir.Ld, ir.Global, 0)}, Regs: make([]ir.RegInfo, 1)}); got != nil {
		t.Errorf("a kernel without textures: %v", got)
	}
	k := &ir.Kernel{Module: &ir.Module{Target: "sm_90a"}, Regs: make([]ir.RegInfo, 7), Instrs: []ir.Instr{
		instr(ir.Ld, ir.Global, data, at),
		instr(ir.Ld, ir.Global, texel, data),
		instr(ir.Ld, ir.Shared, next, at),
	}}
	if got := DeviceOf(&timing.Input{Arch: h200(t), Program: &assemble.Program{Kernel: k}}).ByIndex; !slices.Equal(got, []bool{true, false, false}) {
		t.Errorf("loads of a kernel for one architecture alone by index: %v", got)
	}
}

// An image of 3072 by 3072 floats in tiles is scaled by rows of 256 threads, three texels for four pixels. All of it
// comes from DRAM once, however scattered a row of it lies. Were it data that says where, it would be a gather. So it is
// if a load that data leads reads of the same lines.
func TestRowsOfTilesAreNoGather(t *testing.T) {
	const size = 3072
	survey := func() *Survey {
		s := New(2, 64, 512)
		for k, at := range [][2]int{{8, 2048}, {9, 2048}, {8, 2049}, {8, 2050}} {
			s.Begin([]Direction{Base, X, Y, Y}[k])
			for i := range 256 {
				x, y := (at[0]*256+i)*3/4, (at[1]*3-1)/4
				for _, row := range []int{y, y + 1} {
					// half a line holds two rows of 8 texels, 16 by 8 are a GOB, 16 of these stand on each other
					gob := row/128*(size/16)*16 + x/16*16 + row/8%16
					half := x / 8 % 2 * 4 // of the GOB's 8 halves of a line
					half += row / 2 % 4
					s.Touch(int32(i%2), uint64(gob*4+half/2), 3<<(half%2*2), false)
				}
			}
		}
		return s
	}
	d := device([3]int{16, 4096, 1})
	d.Extents = []timing.Extent{{Last: size*size*4/lineBytes - 1}}
	for _, c := range []struct {
		byIndex []bool
		random  bool
	}{{[]bool{true, true}, false}, {nil, true}, {[]bool{true, false}, true}, {[]bool{false, true}, true}} {
		d.ByIndex = c.byIndex
		p := survey().Plan(d)
		if p.Random[0] != c.random || p.Random[1] != c.random {
			t.Errorf("texels by index %v: random %v", c.byIndex, p.Random)
		}
		if !c.random && p.ReadBytes != size*size*4 {
			t.Errorf("%.1f MB are read, want the image once, %.1f", p.ReadBytes/1e6, size*size*4/1e6)
		}
	}
}
