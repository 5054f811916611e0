// Package expansion has the instruction sequences of operations without an instruction of their
// own, such as divisions and roots.
package expansion

import (
	"strings"

	"github.com/warptune/warptune/simengine/assemble/mir"
)

// Expansions of operations without an instruction of their own, and a small language for them.
//
// A line is an operation, what it writes and what it reads; constants are left out; @p is a guard.
// Operands are letters:
//
//	a b c v   what the operation reads        d   what it writes
//	p q s z   predicates                      others   temporary words
//	capitals  pairs of registers; R.0 and R.1 are the words of pair R

// Step is one instruction of an expansion.
type Step struct {
	Op    mir.Op
	Guard byte // letter of its predicate, 0 none
	Dst   Slot
	Src   []Slot
}

// Slot is an operand of a step.
type Slot struct {
	Name byte // letter, 0 none
	Word int8 // word of a pair, -1 all of it
}

// Expansion reads the steps of a text.
func Expansion(text string) []Step {
	var steps []Step
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var st Step
		if g, ok := strings.CutPrefix(fields[0], "@"); ok {
			st.Guard, fields = g[0], fields[1:]
		}
		st.Op = mir.OpNamed(fields[0])
		for i, field := range fields[1:] {
			o := Slot{Name: field[0], Word: -1}
			if len(field) > 1 {
				o.Word = int8(field[2] - '0')
			}
			if i == 0 {
				st.Dst = o
			} else {
				st.Src = append(st.Src, o)
			}
		}
		steps = append(steps, st)
	}
	return steps
}

// Expansions as ptxas 13.0 emits them for sm_90 (deploy/calibrate, pipes). Those that round
// correctly end in a branch to a slow path for denormals and overflow. The path itself is left out,
// but instructions do not move across its branch.
var (
	RcpF32 = Expansion(`IADD3 t a
		LOP3 t t
		ISETP p t
		BSSY
		@p BRA
		MUFU r a
		FFMA e r a
		FADD e e
		FFMA d r e r
		BSYNC`)
	SqrtF32 = Expansion(`IADD3 t a
		MUFU r a
		ISETP p t
		BSSY
		@p BRA
		FMUL y r a
		FMUL h r
		FFMA e y y a
		FFMA d e h y
		BSYNC`)
	DivF32 = Expansion(`MUFU r b
		FCHK p a b
		FFMA e r b
		FFMA r r e r
		FFMA y r a
		FFMA e y b a
		FFMA d r e y
		BSSY
		@p BRA
		BSYNC`)
	// RoundTF32 rounds ties away from zero, the same on sm_80 to sm_120: under p it adds half of
	// the last place, then clears what is below.
	RoundTF32 = Expansion(`FSETP p a
		IMAD.IADD t a p
		LOP3 d t`)
	// RoundFactor leaves out the clearing: MMA instructions do not look at those bits.
	RoundFactor = Expansion(`FSETP p a
		IMAD.IADD d a p`)
	RcpF64 = Expansion(`MUFU R.1 A.1
		IADD3 R.0 A.1
		FSETP p R.0
		DFMA E R A
		DFMA E E E E
		DFMA R R E R
		DFMA E R A
		DFMA D R E R
		BSSY
		@p BRA
		BSYNC`)
	DivF64 = Expansion(`MUFU R.1 B.1
		MOV R.0
		FSETP q A.1
		DFMA E R B
		DFMA E E E E
		DFMA R R E R
		DFMA E R B
		DFMA R R E R
		DMUL Y R A
		DFMA E Y B A
		DFMA D R E Y
		FFMA t B.1 D.1
		FSETP p t q
		BSSY
		@p BRA
		BSYNC`)
	SqrtF64 = Expansion(`MUFU R.1 A.1
		IADD3 R.0 A.1
		MOV K.0
		MOV K.1
		ISETP p R.0
		DMUL E R R
		DFMA E E A
		DFMA K E K
		DMUL E R E
		DFMA R K E R
		DMUL Y R A
		IADD3 H.1 R.1
		MOV H.0 R.0
		DFMA E Y Y A
		DFMA D E H Y
		BSSY
		@p BRA
		BSYNC`)
	// RsqrtF64 is rsqrt.approx.f64; with .ftz that is its first instruction alone.
	RsqrtF64 = Expansion(`MUFU R.1 A.1
		MOV R.0
		MOV K.0
		MOV K.1
		IADD3 t A.1
		DMUL E R R
		ISETP p t
		DFMA E A E
		DFMA K E K
		DMUL E R E
		DFMA D K E R
		BSSY
		@p BRA
		BSYNC`)
	// RcpU32 is the reciprocal of a 32-bit divisor. DivU32 and DivS32 have it as c, DivS32 the
	// divisor's absolute value as v (see opt.ShareReciprocals).
	RcpU32 = Expansion(`I2F r a
		MUFU r r
		IADD3 t r
		F2I y t
		MOV W.0
		IADD3 m y
		IMAD m m a
		IMAD.HI d y m W.0`)
	DivU32 = Expansion(`ISETP z b
		IMAD.HI y c a
		IADD3 n y
		IMAD r b n a
		ISETP p r b
		@p IADD3 r r b
		@p IADD3 y y
		ISETP q r b
		@q IADD3 y y
		MOV d y
		@z LOP3 d d b`)
	DivS32 = Expansion(`IABS x a
		LOP3 t a b
		IMAD.HI y c x
		IADD3 n y
		ISETP s t
		IMAD r n v x
		ISETP p v r
		@p IADD3 r r v
		@p IADD3 y y
		ISETP z b
		ISETP q r v
		@q IADD3 y y
		MOV d y
		@s IADD3 d d
		@z LOP3 d d b`)
)
