package assemble

import (
	"testing"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/ir"
)

// What ptxas emits for sm_86 has that many instructions on each path, those around the
// call counted.
func TestSlowPathsHaveTheirLengths(t *testing.T) {
	for _, c := range []struct {
		typ  ir.Type
		want [ir.NumPaths]int
	}{
		{ir.F32, [ir.NumPaths]int{17, 8, 15, 23, 50}},
		{ir.F64, [ir.NumPaths]int{51, 5, 16, 12, 28}},
	} {
		in := &ir.Instr{Op: ir.Div, Type: c.typ}
		for p := range ir.NumPaths {
			if n := len(SlowPath(in, p)); n != c.want[p] {
				t.Errorf("%v path %d: %d instructions, want %d", c.typ, p, n, c.want[p])
			}
		}
	}
}

func TestSlowPathsAreMachineCode(t *testing.T) {
	for _, op := range []ir.Op{ir.Div, ir.Rcp, ir.Sqrt} {
		for _, typ := range []ir.Type{ir.F32, ir.F64} {
			for p := range ir.NumPaths {
				code := SlowPath(&ir.Instr{Op: op, Type: typ}, p)
				if len(code) == 0 {
					t.Errorf("%v.%v has no path %d", op, typ, p)
				}
				for i, in := range code {
					if in.Class == mir.ClassInvalid || in.Class == mir.FP64 && typ == ir.F32 {
						t.Errorf("%v.%v path %d: instruction %d is of class %v", op, typ, p, i, in.Class)
					}
				}
			}
		}
	}
	if SlowPath(&ir.Instr{Op: ir.Div, Type: ir.F32, Mod: ir.ModApprox}, 0) != nil || SlowPath(&ir.Instr{Op: ir.Div, Type: ir.U32}, 0) != nil {
		t.Error("an approximate or an integer division has a slow path")
	}
}

// Of what a division takes one branch calls its routine.
func TestDivisionCallsItsSlowPathOnce(t *testing.T) {
	p := must(t, guardedText("cvt.rn.f32.s32 %f2, %r2; div.rn.f32 %f1, %f2, 0f40400000; "), hopper)
	n := 0
	for _, b := range p.Blocks {
		for _, in := range b.Instrs {
			if in.Calls {
				n++
				if in.Class != mir.Branch {
					t.Errorf("%v calls a routine", in.Class)
				}
			}
		}
	}
	if n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}
