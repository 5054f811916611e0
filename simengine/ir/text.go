package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// Opcode is the opcode with its modifiers as PTX spells it, e.g.
// "ld.global.nc.v4.f32". Decoding it gives the same instruction.
func (in *Instr) Opcode() string {
	s := spelling{in: in}
	switch in.Op {
	case Setp, Set:
		s.str("set", in.Op == Set)
		s.str("setp", in.Op == Setp)
		s.dot(in.Cmp != CmpNone, in.Cmp)
		s.dot(in.Bool != BoolNone, in.Bool)
		s.flags(ModFtz)
		s.types()
	case Ld, Ldu, St, Atom, Red, Prefetch, CpAsync, Cvta, Isspacep, Mapa:
		s.memory()
	case Bar, BarRed, BarWarp, Membar, Vote, Match, Redux, Elect, Shfl, CpAsyncWait, CpAsyncCommit:
		s.sync()
	default:
		s.str(in.Op.String(), true)
		s.flags(ModWide, ModHi, ModLo, ModLeft, ModRight, ModClamp, ModWrap, ModShiftAmt, ModUni)
		s.dot(in.Round != RoundNone, in.Round)
		s.flags(ModApprox, ModFull, ModFtz, ModNaN, ModRelu, ModSat, ModCarryOut)
		s.dot(in.Bool != BoolNone && in.Op != Prmt, in.Bool)
		s.types()
		s.dot(in.Bool != BoolNone && in.Op == Prmt, in.Bool)
	}
	return s.b.String()
}

// spelling assembles an opcode.
type spelling struct {
	in *Instr
	b  strings.Builder
}

func (s *spelling) str(text string, when bool) {
	if when {
		s.b.WriteString(text)
	}
}

func (s *spelling) dot(when bool, v fmt.Stringer) {
	if when {
		s.b.WriteByte('.')
		s.b.WriteString(v.String())
	}
}

// flags writes those of the flags that are set, in this order.
func (s *spelling) flags(mods ...Mod) {
	for _, m := range mods {
		s.dot(s.in.Mod&m != 0, m)
	}
}

func (s *spelling) types() {
	s.dot(s.in.Type != TypeInvalid, s.in.Type)
	s.dot(s.in.SrcType != TypeInvalid, s.in.SrcType)
}

func (s *spelling) memory() {
	in := s.in
	s.str(in.Op.String(), true)
	switch in.Op {
	case CpAsync:
		s.str(".ca", in.Mod&ModBypassL1 == 0)
		s.str(".cg", in.Mod&ModBypassL1 != 0)
		s.str(".shared.global", true)
		return
	case Cvta:
		s.flags(ModTo)
	case Prefetch:
		s.dot(in.Space != Generic, in.Space)
		s.str(".L1", in.Cache == CacheCA)
		s.str(".L2", in.Cache == CacheCG)
		return
	}
	if both := ModAcquire | ModRelease; in.Mod&both == both {
		s.str(".acq_rel", true)
	} else {
		s.flags(ModVolatile, ModRelaxed, ModAcquire, ModRelease)
	}
	s.dot(in.Scope != ScopeNone, in.Scope)
	s.dot(in.Space != Generic, in.Space)
	s.dot(in.Cache != CacheDefault && in.Cache != CacheNoAllocate, in.Cache)
	s.flags(ModNonCoherent)
	s.dot(in.Cache == CacheNoAllocate, in.Cache)
	s.dot(in.Atom != AtomNone, in.Atom)
	s.flags(ModNoFtz)
	s.str(".v"+strconv.Itoa(int(in.Vec)), in.Vec > 1)
	s.types()
}

func (s *spelling) sync() {
	in := s.in
	switch in.Op {
	case Bar:
		s.str("bar.arrive", in.Mod&ModArrive != 0)
		s.str("bar.sync", in.Mod&ModArrive == 0)
		return
	case CpAsyncWait:
		s.str("cp.async.wait_all", in.Mod&ModAll != 0)
		s.str("cp.async.wait_group", in.Mod&ModAll == 0)
		return
	case Match:
		s.str("match.all", in.Mod&ModAll != 0)
		s.str("match.any", in.Mod&ModAll == 0)
	case Membar:
		s.fence()
		return
	default:
		s.str(in.Op.String(), true)
	}
	s.flags(ModSync)
	s.dot(in.Bool != BoolNone, in.Bool)
	s.dot(in.Atom != AtomNone, in.Atom)
	s.types()
}

// fence spells membar.gl for what is also fence.sc.gpu.
func (s *spelling) fence() {
	order := s.in.Mod & (ModAcquire | ModRelease)
	if order == 0 && s.in.Scope != ScopeCluster {
		s.str("membar", true)
		s.str(".gl", s.in.Scope == ScopeGPU)
		s.dot(s.in.Scope != ScopeGPU, s.in.Scope)
		return
	}
	s.str("fence", true)
	switch order {
	case 0:
		s.str(".sc", true)
	case ModAcquire | ModRelease:
		s.str(".acq_rel", true)
	default:
		s.flags(ModRelaxed, ModAcquire, ModRelease)
	}
	s.dot(true, s.in.Scope)
}

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
