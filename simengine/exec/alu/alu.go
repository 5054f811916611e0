// Package alu is what arithmetic, logic, comparison and conversion instructions compute. Select gives the function of
// an instruction: all 32 lanes of a warp at once, on registers of 32 or 64 bits. Nothing here depends on the state of a
// warp.
package alu

import (
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// Vec32 and Vec64 are a register's 32 lanes.
type (
	Vec32 = [arch.WarpSize]uint32
	Vec64 = [arch.WarpSize]uint64
)

// Func32 and Func64 are lane functions. A lane function computes d from up to four sources for every lane, active
// or not; it has no other effect. Sources it does not use may be anything.
// d may be any of the sources.
type (
	Func32 func(d, a, b, c, e *Vec32)
	Func64 func(d, a, b, c, e *Vec64)
)

// Word is what a lane of a register holds.
type Word interface{ uint32 | uint64 }

// Lane is the meaning of one instruction: one of the functions is set.
// Sext has bit i set when source i, held in a 32-bit register, is
// sign-extended for f64.
type Lane struct {
	F32  Func32
	F64  Func64
	Sext uint8
}

// Valid reports whether there is a function.
func (l Lane) Valid() bool { return l.F32 != nil || l.F64 != nil }

// selector picks the lane function of an instruction; the zero lane means
// that this combination of type and modifiers is not modelled.
type selector func(in *ir.Instr) Lane

// Select finds the lane function for an instruction of an arithmetic,
// logic, conversion or data movement group.
func Select(in *ir.Instr) Lane {
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
	return Lane{}
}

// Width is the size of t in bits, 0 when a register cannot hold it.
func Width(t ir.Type) int {
	if t == ir.B128 {
		return 0
	}
	return 8 * t.Size()
}

// lift32 applies a scalar function lane by lane.
func lift32(f func(a, b, c uint32) uint32) Func32 {
	return func(d, a, b, c, _ *Vec32) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// lift64 applies a scalar function lane by lane.
func lift64(f func(a, b, c uint64) uint64) Func64 {
	return func(d, a, b, c, _ *Vec64) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

// extend32 sign- or zero-extends the low bits of every lane.
func extend32(d, a *Vec32, bits int, signed bool) {
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
func narrow(f Func32, bits int, signed bool, n int) Func32 {
	return func(d, a, b, c, e *Vec32) {
		var x, y, z Vec32
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
func halves(f func(a, b, c uint32) uint32) Func32 {
	return lift32(func(a, b, c uint32) uint32 {
		lo := f(a&0xffff, b&0xffff, c&0xffff) & 0xffff
		return lo | f(a>>16, b>>16, c>>16)<<16
	})
}
