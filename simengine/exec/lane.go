package exec

import "github.com/warptune/warptune/simengine/ir"

// A register's 32 lanes.
type (
	vec32 = [WarpSize]uint32
	vec64 = [WarpSize]uint64
)

// A lane function computes d from up to four sources for every lane, active
// or not; it has no other effect. Sources it does not use may be anything.
// d may be any of the sources.
type (
	fn32 func(d, a, b, c, e *vec32)
	fn64 func(d, a, b, c, e *vec64)
)

// word is what a lane of a register holds.
type word interface{ uint32 | uint64 }

// lane is the meaning of one instruction: one of the functions is set.
// sext has bit i set when source i, held in a 32-bit register, is
// sign-extended for f64.
type lane struct {
	f32  fn32
	f64  fn64
	sext uint8
}

func (l lane) valid() bool { return l.f32 != nil || l.f64 != nil }

// selector picks the lane function of an instruction; the zero lane means
// that this combination of type and modifiers is not modelled.
type selector func(in *ir.Instr) lane

// selectLane finds the lane function for an instruction of an arithmetic,
// logic, conversion or data movement group.
func selectLane(in *ir.Instr) lane {
	groups := []map[ir.Op]selector{bitOps, integerOps}
	switch {
	case in.Op == ir.Cvt:
		return selectCvt(in)
	case in.Type.IsFloat():
		groups = []map[ir.Op]selector{floatOps, bitOps}
	}
	for _, g := range groups {
		if sel := g[in.Op]; sel != nil {
			return sel(in)
		}
	}
	return lane{}
}

// width is the size of t in bits, 0 when a register cannot hold it.
func width(t ir.Type) int {
	if t == ir.B128 {
		return 0
	}
	return 8 * t.Size()
}

// lift32 applies a scalar function lane by lane.
func lift32(f func(a, b, c uint32) uint32) fn32 {
	return func(d, a, b, c, _ *vec32) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// lift64 applies a scalar function lane by lane.
func lift64(f func(a, b, c uint64) uint64) fn64 {
	return func(d, a, b, c, _ *vec64) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// extend32 sign- or zero-extends the low bits of every lane.
func extend32(d, a *vec32, bits int, signed bool) {
	s := uint(32 - bits)
	if signed {
		for i := range d {
			d[i] = uint32(int32(a[i]<<s) >> s)
		}
		return
	}
	for i := range d {
		d[i] = a[i] << s >> s
	}
}

// narrow makes a 32-bit lane function work on the low bits of its first n
// sources, extended as signed says, and cuts the result to the same bits.
func narrow(f fn32, bits int, signed bool, n int) fn32 {
	return func(d, a, b, c, e *vec32) {
		var x, y, z vec32
		extend32(&x, a, bits, signed)
		if n > 1 {
			extend32(&y, b, bits, signed)
			b = &y
		}
		if n > 2 {
			extend32(&z, c, bits, signed)
			c = &z
		}
		f(d, &x, b, c, e)
		extend32(d, d, bits, false)
	}
}

// halves applies a scalar function to both 16-bit halves of every lane.
func halves(f func(a, b, c uint32) uint32) fn32 {
	return lift32(func(a, b, c uint32) uint32 {
		lo := f(a&0xffff, b&0xffff, c&0xffff) & 0xffff
		return lo | f(a>>16, b>>16, c>>16)<<16
	})
}
