package sroa

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// congruence is an element of the lattice of congruences (P. Granger, Static analysis of
// arithmetical congruences, 1989), for moduli that are powers of two up to 16: what is known of the
// values of a register. The value of an address counts from the start of its variable.
type congruence struct {
	known    bool  // false: no definition was looked at yet
	variable int32 // whose address it is, -1 none, mixed of several
	modulus  uint64
	value    uint64 // modulo the modulus; where that is 0, the value itself
}

// mixed is the variable of an address that may be of several variables, or no address.
const mixed = -2

// maxModulus is as much as ptxas knows of an address: an array of .align 64 that is walked in steps
// of 32 bytes is compared with as many places as if walked in steps of 16
// (deploy/calibrate/ptxas/indexed.py, "al").
const maxModulus = 16

// anything is a value of which nothing is known.
var anything = congruence{known: true, variable: -1, modulus: 1}

// always is a constant.
func always(v uint64) congruence { return congruence{known: true, variable: -1, value: v} }

// modulo is a value that is v modulo m.
func modulo(variable int32, m, v uint64) congruence {
	if m == 0 || m > maxModulus {
		m = maxModulus
	}
	return congruence{known: true, variable: variable, modulus: m, value: v & (m - 1)}
}

// lowestBit is the lowest set bit of a number, at most maxModulus.
func lowestBit(v uint64) uint64 { return min(maxModulus, uint64(1)<<min(bits.TrailingZeros64(v), 4)) }

// common is the modulus by which both values are known, 0 if both are constants.
func common(a, b congruence) uint64 {
	switch {
	case a.modulus == 0:
		return b.modulus
	case b.modulus == 0:
		return a.modulus
	}
	return min(a.modulus, b.modulus)
}

// meet is what is known of a value that is either of two.
func meet(a, b congruence) congruence {
	switch {
	case !a.known:
		return b
	case !b.known || a == b:
		return a
	}
	variable := a.variable
	if a.variable != b.variable {
		variable = mixed
	}
	m := lowestBit(a.value - b.value)
	if c := common(a, b); c != 0 {
		m = min(m, c)
	}
	return modulo(variable, m, a.value)
}

// plus is the sum of two values, or their difference.
func (a congruence) plus(b congruence, minus bool) congruence {
	variable, value := a.variable, a.value+b.value
	if minus {
		value = a.value - b.value
	}
	switch {
	case a.variable == -1 && !minus:
		variable = b.variable
	case b.variable != -1:
		variable = mixed
	}
	if m := common(a, b); m != 0 {
		return modulo(variable, m, value)
	}
	return congruence{known: true, variable: variable, value: value}
}

// times is the product of two values that are no addresses.
func (a congruence) times(b congruence) congruence {
	if a.modulus == 0 {
		a, b = b, a
	}
	switch {
	case a.modulus == 0:
		return always(a.value * b.value)
	case b.modulus == 0:
		return modulo(-1, a.modulus*lowestBit(b.value), a.value*b.value)
	}
	return modulo(-1, common(a, b), a.value*b.value)
}

// bitwise is the result of a logical operation on two values that are no addresses.
func (a congruence) bitwise(b congruence, op ir.Op) congruence {
	f := func(x, y uint64) uint64 {
		switch op {
		case ir.And:
			return x & y
		case ir.Or:
			return x | y
		}
		return x ^ y
	}
	m := common(a, b)
	if m == 0 {
		return always(f(a.value, b.value))
	}
	if op == ir.And { // the zeros at the end of either
		for _, c := range []congruence{a, b} {
			if z := lowestBit(c.value); (c.modulus == 0 || z < c.modulus) && z > m {
				return modulo(-1, z, 0)
			}
		}
	}
	return modulo(-1, m, f(a.value, b.value))
}
