package assemble

import (
	"fmt"
	"strings"
)

// listing is the machine code as text, for tests and for people: one
// instruction a line, with virtual registers until they are allocated.
func (f *mfn) listing() string {
	var sb strings.Builder
	for _, b := range f.order {
		fmt.Fprintf(&sb, "block %d -> %v (depth %d)\n", b, f.blocks[b].succs, f.blocks[b].depth)
		for i := range f.blocks[b].insts {
			fmt.Fprintf(&sb, "\t%s\n", f.instText(&f.blocks[b].insts[i]))
		}
	}
	return sb.String()
}

// instText is one instruction as text: its guard, operation, results and operands, then
// the bytes a lane accesses and at which offset, and the PTX instruction it came from.
func (f *mfn) instText(in *inst) string {
	var sb strings.Builder
	if in.guard != noValue {
		not := ""
		if in.gnot {
			not = "!"
		}
		fmt.Fprintf(&sb, "@%s%s ", not, f.argText(&arg{kind: argValue, v: in.guard, n: 1}))
	}
	sb.WriteString(in.op.String())
	sep := " "
	for i := range in.dst {
		if in.dst[i].kind != argNone {
			sb.WriteString(sep + f.argText(&in.dst[i]))
			sep = ", "
		}
	}
	for i := range in.src[:in.nsrc] {
		sb.WriteString(sep + f.argText(&in.src[i]))
		sep = ", "
	}
	sep = "  ; "
	if in.isMem() {
		fmt.Fprintf(&sb, "%s%d bytes at %+d", sep, in.width, in.memOff)
		sep = ", "
	}
	if in.pc >= 0 {
		fmt.Fprintf(&sb, "%sPTX %d", sep, in.pc)
	}
	return sb.String()
}

// argText is one operand as text.
func (f *mfn) argText(a *arg) string {
	switch a.kind {
	case argImm:
		return fmt.Sprintf("%#x", a.imm)
	case argConst:
		return fmt.Sprintf("c[%#x]", a.imm)
	case argZero:
		return "RZ"
	case argValue:
		name, first := map[file]string{fileGeneral: "R", filePred: "P", fileUniform: "UR", fileUniformPred: "UP", fileNone: "X"}[f.vals[a.v].file], int(a.w)
		if f.regs != nil && int(a.v) < len(f.regs) && f.regs[a.v] >= 0 {
			first += int(f.regs[a.v])
		} else {
			name = fmt.Sprintf("%sv%d.", name, a.v)
		}
		if a.n > 1 {
			return fmt.Sprintf("%s%d-%d", name, first, first+int(a.n)-1)
		}
		return fmt.Sprintf("%s%d", name, first)
	}
	return "-"
}

// liveText lists what is live in registers at the entry of a block.
func (f *mfn) liveText(b int) string {
	var sb strings.Builder
	for v, m := range f.live.in[b] {
		if m != 0 && f.vals[v].file == fileGeneral {
			name := "t"
			if v < len(f.k.Regs) {
				name = f.k.Regs[v].Name
			}
			fmt.Fprintf(&sb, "%s(v%d)x%d ", name, v, f.vals[v].words)
		}
	}
	return sb.String()
}
