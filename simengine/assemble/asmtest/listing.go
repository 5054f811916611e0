package asmtest

import (
	"fmt"
	"strings"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// Listing is the machine code as text, one instruction a line, with virtual registers until they
// are allocated.
func Listing(f *mir.Func) string {
	var sb strings.Builder
	for _, b := range f.Order {
		fmt.Fprintf(&sb, "block %d -> %v (depth %d)\n", b, f.Blocks[b].Succs, f.Blocks[b].LoopDepth)
		for i := range f.Blocks[b].Insts {
			fmt.Fprintf(&sb, "\t%s\n", instText(f, &f.Blocks[b].Insts[i]))
		}
	}
	return sb.String()
}

// instText is an instruction as text: guard, operation, results, operands, then the bytes a lane
// accesses, their offset, and the PTX instruction.
func instText(f *mir.Func, in *mir.Inst) string {
	var sb strings.Builder
	if in.Guard != vreg.None {
		not := ""
		if in.GuardNot {
			not = "!"
		}
		fmt.Fprintf(&sb, "@%s%s ", not, argText(f, &mir.Arg{Kind: mir.ArgValue, Value: in.Guard, N: 1}))
	}
	sb.WriteString(in.Op.String())
	sep := " "
	for i := range in.Dst {
		if in.Dst[i].Kind != mir.ArgNone {
			sb.WriteString(sep + argText(f, &in.Dst[i]))
			sep = ", "
		}
	}
	for i := range in.Src[:in.NSrc] {
		sb.WriteString(sep + argText(f, &in.Src[i]))
		sep = ", "
	}
	sep = "  ; "
	if in.IsMem() {
		fmt.Fprintf(&sb, "%s%d bytes at %+d", sep, in.Width, in.MemOffset)
		sep = ", "
	}
	if in.PC >= 0 {
		fmt.Fprintf(&sb, "%sPTX %d", sep, in.PC)
	}
	return sb.String()
}

// argText is an operand as text.
func argText(f *mir.Func, a *mir.Arg) string {
	switch a.Kind {
	case mir.ArgImm:
		return fmt.Sprintf("%#x", a.Imm)
	case mir.ArgConst:
		return fmt.Sprintf("c[%#x]", a.Imm)
	case mir.ArgZero:
		return "RZ"
	case mir.ArgValue:
		name, first := map[vreg.File]string{vreg.General: "R", vreg.Predicate: "P", vreg.Uniform: "UR", vreg.UniformPredicate: "UP", vreg.NoFile: "X"}[f.Values[a.Value].File], int(a.Word)
		if f.Regs != nil && int(a.Value) < len(f.Regs) && f.Regs[a.Value] >= 0 {
			first += int(f.Regs[a.Value])
		} else {
			name = fmt.Sprintf("%sv%d.", name, a.Value)
		}
		if a.N > 1 {
			return fmt.Sprintf("%s%d-%d", name, first, first+int(a.N)-1)
		}
		return fmt.Sprintf("%s%d", name, first)
	}
	return "-"
}

// LiveText lists what is live in general registers at the start of block b.
func LiveText(f *mir.Func, b int) string {
	var sb strings.Builder
	for v, m := range f.Live.In[b] {
		if m != 0 && f.Values[v].File == vreg.General {
			name := "t"
			if v < len(f.Kernel.Regs) {
				name = f.Kernel.Regs[v].Name
			}
			fmt.Fprintf(&sb, "%s(v%d)x%d ", name, v, f.Values[v].Words)
		}
	}
	return sb.String()
}
