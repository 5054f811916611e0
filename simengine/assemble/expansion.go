package assemble

import (
	"strings"
)

// step is one instruction of an expansion. Its operands are letters: a, b, c and v what
// the operation reads, d what it writes, p, q, s and z predicates, capitals pairs
// of registers, all others words.
type step struct {
	op    mop
	guard byte // the predicate it is under, 0 none
	dst   slot
	src   []slot
}

// slot is an operand of a step.
type slot struct {
	name byte // 0 none
	word int8 // one word of a pair, -1 all of it
}

// expansion reads steps as they are written below: an operation, what it writes
// and what it reads, constants left out.
func expansion(text string) []step {
	var steps []step
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var st step
		if g, ok := strings.CutPrefix(fields[0], "@"); ok {
			st.guard, fields = g[0], fields[1:]
		}
		st.op = mopNamed(fields[0])
		for i, field := range fields[1:] {
			o := slot{name: field[0], word: -1}
			if len(field) > 1 {
				o.word = int8(field[2] - '0')
			}
			if i == 0 {
				st.dst = o
			} else {
				st.src = append(st.src, o)
			}
		}
		steps = append(steps, st)
	}
	return steps
}

// The expansions of operations without an instruction of their own, as ptxas 13.0
// emits them for sm_90 (the code of deploy/calibrate pipes). Those that round
// exactly end in a branch to a slow path for denormals and overflow, which is left
// out: it is not taken, but instructions do not move across it. BSSY may stand
// anywhere before the branch.
var (
	rcpF32 = expansion(`IADD3 t a
		LOP3 t t
		ISETP p t
		BSSY
		@p BRA
		MUFU r a
		FFMA e r a
		FADD e e
		FFMA d r e r
		BSYNC`)
	sqrtF32 = expansion(`IADD3 t a
		MUFU r a
		ISETP p t
		BSSY
		@p BRA
		FMUL y r a
		FMUL h r
		FFMA e y y a
		FFMA d e h y
		BSYNC`)
	divF32 = expansion(`MUFU r b
		FCHK p a b
		FFMA e r b
		FFMA r r e r
		FFMA y r a
		FFMA e y b a
		FFMA d r e y
		BSSY
		@p BRA
		BSYNC`)
	// roundTF32 rounds ties away from zero, the same on sm_80 to sm_120: it adds half of the
	// last place under p, in place, and takes off what is below.
	roundTF32 = expansion(`FSETP p a
		IMAD.IADD t a p
		LOP3 d t`)
	// roundFactor leaves that to the products, which do not look at it.
	roundFactor = expansion(`FSETP p a
		IMAD.IADD d a p`)
	rcpF64 = expansion(`MUFU R.1 A.1
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
	divF64 = expansion(`MUFU R.1 B.1
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
	sqrtF64 = expansion(`MUFU R.1 A.1
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
	// rsqrtF64 is rsqrt.approx.f64; with .ftz it is its first instruction alone.
	rsqrtF64 = expansion(`MUFU R.1 A.1
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
	// The reciprocal of what 32 bits are divided by, and divisions that have it as c and,
	// of signed numbers, the divisor's amount as v (see splitDivisions).
	rcpU32 = expansion(`I2F r a
		MUFU r r
		IADD3 t r
		F2I y t
		MOV W.0
		IADD3 m y
		IMAD m m a
		IMAD.HI d y m W.0`)
	divU32 = expansion(`ISETP z b
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
	divS32 = expansion(`IABS x a
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
