package lower

import (
	"fmt"
	"github.com/warptune/warptune/simengine/ir"
	"strings"
)

// shape is a decoded opcode: everything that its spelling alone says.
type shape struct {
	spec *spec
	ir.Instr
	seen group
	// twice is the groups of which two modifiers were written.
	twice group
	wm    *wmma // of a wmma instruction
	hint  bool  // a bulk copy names a cache policy
	// spaces counts the state spaces written (cp.async has two).
	spaces int
	// At most one of these says why the opcode is refused.
	unmodelled bool
	problem    string
}

func (s *shape) addSpace(sp ir.Space) {
	s.spaces++
	if s.spaces == 1 {
		s.Space = sp
	}
}

// decoder turns opcode spellings into shapes, each spelling once.
type decoder map[string]*shape

func (d decoder) decode(opcode string) *shape {
	if s, ok := d[opcode]; ok {
		return s
	}
	s := &shape{}
	s.Target = -1
	d[opcode] = s
	rest := s.base(opcode)
	switch {
	case s.spec == nil:
		s.problem = fmt.Sprintf("unknown instruction %q", opcode)
	case s.spec.op == ir.OpInvalid:
		s.unmodelled = true
	case s.spec.form >= formMma && s.spec.form <= formStmatrix:
		s.Op, s.Mod = s.spec.op, s.spec.mod
		s.matrix(opcode, rest)
	case s.spec.form >= formBulk && s.spec.form <= formTensormapCopy:
		s.Op, s.Mod = s.spec.op, s.spec.mod
		s.async(opcode, rest)
	case s.spec.form == formTexture:
		s.Op = s.spec.op
		s.texture(opcode, rest)
	default:
		s.Op, s.Mod = s.spec.op, s.spec.mod
		s.modifiers(opcode, rest)
	}
	return s
}

// base finds the longest dotted prefix of the opcode in the table and returns
// the modifiers after it.
func (s *shape) base(opcode string) string {
	for end := len(opcode); end > 0; {
		if sp, ok := specs[opcode[:end]]; ok {
			s.spec = sp
			return strings.TrimPrefix(opcode[end:], ".")
		}
		end = strings.LastIndexByte(opcode[:end], '.')
	}
	return ""
}

// async decodes an opcode on bulk copies, proxies or tensor maps.
func (s *shape) async(opcode, rest string) {
	switch s.spec.form {
	case formBulk:
		s.bulk(opcode, rest)
	case formFenceProxy:
		s.fenceProxy(opcode, rest)
	case formTensormapSet:
		s.tensormapSet(opcode, rest)
	case formTensormapCopy:
		s.tensormapCopy(opcode, rest)
	}
}

func (s *shape) modifiers(opcode, rest string) {
	ntypes := 0
	for rest != "" {
		var word string
		word, rest, _ = strings.Cut(rest, ".")
		if t := registerType(word); t != ir.TypeInvalid {
			switch ntypes++; ntypes {
			case 1:
				s.Type = t
			case 2:
				s.SrcType = t
			}
			continue
		}
		if !s.modifier(word) {
			s.refuse(opcode, word)
			return
		}
	}
	s.check(opcode, ntypes)
}

// modifier applies one modifier in a meaning the opcode allows.
func (s *shape) modifier(word string) bool {
	for _, m := range modifierTable[word] {
		if m.group&s.spec.may != 0 {
			m.set(s)
			s.twice |= s.seen & m.group & s.spec.may
			s.seen |= m.group & s.spec.may
			return true
		}
	}
	return false
}

func (s *shape) refuse(opcode, word string) {
	if notModelled[word] {
		s.unmodelled = true
		return
	}
	base := s.Op.String()
	if _, known := modifierTable[word]; known {
		s.problem = fmt.Sprintf("%s does not take .%s in %q", base, word, opcode)
		return
	}
	s.problem = fmt.Sprintf("unknown modifier .%s in %q", word, opcode)
}

// check says what is missing from the opcode or wrong with its types.
func (s *shape) check(opcode string, ntypes int) {
	want := 0
	switch {
	case s.spec.second != 0:
		want = 2
	case s.spec.types != 0:
		want = 1
	}
	switch {
	case ntypes > want:
		if want == 1 && s.Type.IsFloat() && s.SrcType.IsFloat() { // mixed precision, e.g. add.f32.f16
			s.unmodelled = true
			return
		}
		s.problem = fmt.Sprintf("too many types in %q", opcode)
	case ntypes < want:
		s.problem = fmt.Sprintf("type missing in %q", opcode)
	case want > 0 && s.spec.types>>s.Type&1 == 0:
		s.problem = fmt.Sprintf("%s does not take type .%s in %q", s.Op, s.Type, opcode)
	case want > 1 && s.spec.second>>s.SrcType&1 == 0:
		s.problem = fmt.Sprintf("%s does not take source type .%s in %q", s.Op, s.SrcType, opcode)
	case s.missing() != 0:
		s.problem = fmt.Sprintf("modifier missing in %q: %s", opcode, groupHint[s.missing()])
	case s.seen&gWide == 0 && s.spec.may&gWide != 0 && (s.Type.IsInt() || s.Op == ir.MadC):
		s.problem = fmt.Sprintf("modifier missing in %q: %s", opcode, groupHint[gWide])
	case s.Mod&ir.ModWide != 0 && s.Type.Wide() == ir.TypeInvalid:
		s.problem = fmt.Sprintf("%s.wide does not take type .%s", s.Op, s.Type)
	}
	if s.Op == ir.Membar && s.seen&gOrder == 0 && strings.HasPrefix(opcode, "fence") {
		s.Mod |= ir.ModAcquire | ir.ModRelease // a fence without semantics is .acq_rel
	}
	if order := ir.ModRelaxed | ir.ModAcquire | ir.ModRelease; s.Op == ir.ClusterBarrier && s.Mod&order == 0 {
		s.Mod |= orderOfBarrier(s.Mod)
	}
	s.checkAsync(opcode)
	if s.spec.form == formDropped {
		s.Space, s.Cache = ir.Generic, ir.CacheDefault
	}
	if s.Op == ir.Cvt && s.problem == "" {
		s.checkFP8(opcode)
	}
	if (s.Op == ir.Ld || s.Op == ir.St || s.Op == ir.Ldu) && s.Vec == 0 {
		s.Vec = 1
	}
}

// orderOfBarrier is the order of a barrier of the cluster that names none.
func orderOfBarrier(m ir.Mod) ir.Mod {
	if m&ir.ModArrive != 0 {
		return ir.ModRelease
	}
	return ir.ModAcquire
}

// checkFP8 checks a conversion to or from floating-point numbers of eight bits, and .satfinite.
func (s *shape) checkFP8(opcode string) {
	to, from := tFP8>>s.Type&1 != 0, tFP8>>s.SrcType&1 != 0
	finite := s.seen&gSatfinite != 0
	switch {
	case to && (!finite || s.Round != ir.RN || s.SrcType != ir.F32 && s.SrcType != ir.F16x2), from && (s.Type != ir.F16x2 || s.Round != ir.RN):
		s.unmodelled = true
	case finite && !to && s.Type != ir.TF32:
		s.unmodelled = true
	}
}

// missing is one group that must appear and does not, 0 when all are there.
// bar.red takes either of its two.
func (s *shape) missing() group {
	must := s.spec.must
	if s.Op == ir.BarRed {
		if s.seen&must != 0 {
			return 0
		}
		return gBool
	}
	for must != 0 {
		g := must & -must
		if s.seen&g == 0 {
			return g
		}
		must &^= g
	}
	return 0
}

var groupHint = map[group]string{
	gRound: ".rn, .rz, .rm or .rp", gWide: ".lo, .hi or .wide", gCmp: "a comparison such as .eq",
	gSpace: "a state space", gAtom: "an operation such as .add", gApprox: ".approx",
	gTest: "a test such as .finite", gDir: ".l or .r", gClamp: ".clamp or .wrap",
	gShfl: ".up, .down, .bfly or .idx", gVote: ".all, .any, .uni or .ballot", gSync: ".sync",
	gScope: "a scope such as .gpu", gBool: ".and, .or or .popc", gLevel: ".L1 or .L2",
	gAsync: ".ca or .cg", gIgnore: ".wait or .launch_dependents",
}

// registerType is the type of a spelling that is one of registers and memory; TypeInvalid: it is none. Elements of
// matrices have others (matrixType).
func registerType(word string) ir.Type {
	if t := ir.TypeNamed(word); t != ir.E4M3 && t != ir.E5M2 {
		return t
	}
	return ir.TypeInvalid
}
