package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// String is the instruction with its registers as numbers; Kernel.Text gives
// it with their names.
func (in *Instr) String() string { return instrText(nil, in) }

// Text is instruction pc as PTX text, for messages.
func (k *Kernel) Text(pc int) string { return instrText(k, &k.Instrs[pc]) }

func instrText(k *Kernel, in *Instr) string {
	w := operandWriter{k: k, in: in}
	if in.Guard != NoReg {
		w.b.WriteByte('@')
		if in.GuardNot {
			w.b.WriteByte('!')
		}
		w.reg(in.Guard)
		w.b.WriteByte(' ')
	}
	w.b.WriteString(in.Opcode())
	w.dests()
	switch in.Op {
	case Mma:
		w.fragments()
	case Wgmma:
		w.wgmma()
	case BulkCopy, BulkPrefetch:
		w.bulk()
	case Tex, Txq, Suld, Sust:
		w.texture()
	case Ld, Ldu, Atom, Prefetch, Red, St:
		w.sep()
		w.source(0)
		w.list(1, in.Vec > 1 || in.Op == Mov && len(in.Src) > 1)
	default:
		w.list(0, in.Op == Mov && len(in.Src) > 1)
	}
	if in.Op == Bra {
		w.sep()
		w.b.WriteString(w.label(in.Target))
	}
	for i, t := range in.Targets {
		w.sep()
		w.b.WriteString(strings.Repeat("{", b2i(i == 0)) + w.label(t) + strings.Repeat("}", b2i(i == len(in.Targets)-1)))
	}
	w.b.WriteByte(';')
	return w.b.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// operandWriter writes the operands of one instruction.
type operandWriter struct {
	k  *Kernel
	in *Instr
	b  strings.Builder
	n  int // operands written
}

func (w *operandWriter) sep() {
	if w.n++; w.n == 1 {
		w.b.WriteByte(' ')
	} else {
		w.b.WriteString(", ")
	}
}

func (w *operandWriter) reg(r Reg) {
	switch {
	case r == NoReg:
		w.b.WriteByte('_')
	case w.k != nil && int(r) < len(w.k.Regs):
		w.b.WriteString(w.k.Regs[r].Name)
	default:
		w.b.WriteByte('%')
		w.b.WriteString(strconv.Itoa(int(r)))
	}
}

// dests writes d, {d, e} or d|p.
func (w *operandWriter) dests() {
	if len(w.in.Dst) == 0 {
		return
	}
	w.sep()
	mid, open, end := "", "", ""
	if len(w.in.Dst) > 1 {
		switch w.in.Op {
		case Setp, Shfl, Match, Elect, Lop3:
			mid = "|"
		default:
			mid, open, end = ", ", "{", "}"
		}
	}
	w.b.WriteString(open)
	for i, r := range w.in.Dst {
		if i > 0 {
			w.b.WriteString(mid)
		}
		w.reg(r)
	}
	w.b.WriteString(end)
}

// list writes the sources from number i on.
func (w *operandWriter) list(i int, braces bool) {
	if braces && i < len(w.in.Src) {
		w.sep()
		w.b.WriteByte('{')
		w.n = 0
		for ; i < len(w.in.Src); i++ {
			if w.n++; w.n > 1 {
				w.b.WriteString(", ")
			}
			w.source(i)
		}
		w.b.WriteByte('}')
		return
	}
	for ; i < len(w.in.Src); i++ {
		w.sep()
		w.source(i)
	}
}

func (w *operandWriter) source(i int) {
	o := &w.in.Src[i]
	if o.Not {
		w.b.WriteByte('!')
	}
	switch o.Kind {
	case OperandReg:
		w.reg(o.Reg)
	case OperandImm:
		w.b.WriteString(immText(w.in, i, o.Imm))
	case OperandSpecial:
		w.b.WriteString(o.Special.String())
	case OperandVar:
		w.place(o)
	case OperandAddr:
		w.b.WriteByte('[')
		w.place(o)
		w.b.WriteByte(']')
	default:
		w.b.WriteByte('?')
	}
}

// place writes base+offset.
func (w *operandWriter) place(o *Operand) {
	switch {
	case o.Reg != NoReg:
		w.reg(o.Reg)
	case o.Var >= 0 && w.k != nil:
		w.b.WriteString(w.k.Vars[o.Var].Name)
	case o.Param >= 0 && w.k != nil:
		w.b.WriteString(w.k.Params[o.Param].Name)
	case o.Var >= 0:
		w.b.WriteString("var" + strconv.Itoa(int(o.Var)))
	case o.Param >= 0:
		w.b.WriteString("param" + strconv.Itoa(int(o.Param)))
	default:
		w.b.WriteString(strconv.FormatInt(int64(o.Imm), 10))
		return
	}
	if o.Imm != 0 {
		w.b.WriteByte('+')
		w.b.WriteString(strconv.FormatInt(int64(o.Imm), 10))
	}
}

// label names the place a branch goes to.
func (w *operandWriter) label(pc int) string {
	if w.k == nil {
		return "@" + strconv.Itoa(pc)
	}
	return "b" + strconv.Itoa(w.k.BlockOf(pc))
}

// immText spells a constant of source i.
func immText(in *Instr, i int, bits uint64) string {
	t := in.Type
	if in.SrcType != TypeInvalid && (in.Op == Cvt || in.Op == Set || in.Op == Slct && i == 2) {
		t = in.SrcType
	}
	switch in.Op {
	case Shfl, Shl, Shr, Bfe, Bfi:
		if i > 0 {
			t = U32
		}
	case BulkCopy, Wgmma:
		t = U32
	}
	switch {
	case t == F32:
		return fmt.Sprintf("0f%08X", bits)
	case t == F64:
		return fmt.Sprintf("0d%016X", bits)
	case t == S16 || t == B16:
		return strconv.Itoa(int(int16(bits)))
	case t == S32 || t == B32:
		return strconv.Itoa(int(int32(bits)))
	case t == S64 || t == B64:
		return strconv.FormatInt(int64(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}

// String lists the kernel block by block.
func (k *Kernel) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kernel %s\n", k.Name)
	for i := range k.Blocks {
		blk := &k.Blocks[i]
		fmt.Fprintf(&b, "b%d:", i)
		if len(blk.Succs) > 0 {
			fmt.Fprintf(&b, " -> %s", blockList(blk.Succs))
		}
		if blk.IPDom >= 0 {
			fmt.Fprintf(&b, " ipdom b%d", blk.IPDom)
		}
		if blk.LoopHead >= 0 {
			fmt.Fprintf(&b, " loop b%d depth %d", blk.LoopHead, blk.LoopDepth)
		}
		b.WriteByte('\n')
		for pc := blk.Start; pc < blk.End; pc++ {
			fmt.Fprintf(&b, "\t%s\n", k.Text(pc))
		}
	}
	return b.String()
}

func blockList(blocks []int) string {
	s := make([]string, len(blocks))
	for i, b := range blocks {
		s[i] = "b" + strconv.Itoa(b)
	}
	return strings.Join(s, " ")
}
