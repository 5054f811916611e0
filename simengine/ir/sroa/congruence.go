package sroa

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// congruence is what is known of the values that a register takes, modulo a power of two
// of at most 16, or of the one value it has; of an address, counted from its variable's start.
type congruence struct {
	known    bool  // false: no definition was looked at yet
	variable int32 // whose address it is, -1 none, mixed of several
	modulus  uint64
	value    uint64 // modulo the modulus; where that is 0, the value itself
}

// mixed is the variable of an address that may be one of several variables, or no address.
const mixed = -2

// mostModulus is as much as ptxas knows of an address: an array of .align 64 that is walked by
// 32 bytes has as many places to compare with as if walked by 16 (indexed.py, "al").
const mostModulus = 16

// anything is a value of which nothing is known.
var anything = congruence{known: true, variable: -1, modulus: 1}

// always is a value that is known.
func always(v uint64) congruence { return congruence{known: true, variable: -1, value: v} }

// modulo is a value of which the rest is known.
func modulo(variable int32, m, v uint64) congruence {
	if m == 0 || m > mostModulus {
		m = mostModulus
	}
	return congruence{known: true, variable: variable, modulus: m, value: v & (m - 1)}
}

// lowest is the lowest bit of a number, mostModulus where that is higher or there is none.
func lowest(v uint64) uint64 { return min(mostModulus, uint64(1)<<min(bits.TrailingZeros64(v), 4)) }

// common is the modulus by which both values are known, 0 where both are constants.
func common(a, b congruence) uint64 {
	switch {
	case a.modulus == 0:
		return b.modulus
	case b.modulus == 0:
		return a.modulus
	}
	return min(a.modulus, b.modulus)
}

// meet is what is known of a value that is one or the other.
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
	m := lowest(a.value - b.value)
	if c := common(a, b); c != 0 {
		m = min(m, c)
	}
	return modulo(variable, m, a.value)
}

// plus is the sum of two values, or the difference.
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
		return modulo(-1, a.modulus*lowest(b.value), a.value*b.value)
	}
	return modulo(-1, common(a, b), a.value*b.value)
}

// bitwise is what a logical operation makes of two values that are no addresses.
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
			if z := lowest(c.value); (c.modulus == 0 || z < c.modulus) && z > m {
				return modulo(-1, z, 0)
			}
		}
	}
	return modulo(-1, m, f(a.value, b.value))
}
