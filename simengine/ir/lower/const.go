package lower

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// constant is the value of a constant expression: 64 bits of an integer, or a
// double, as PTX evaluates them.
type constant struct {
	bits     uint64
	unsigned bool
	float    bool
	// single is set when the literal was a 0f form: bits32 are exact.
	single bool
	bits32 uint32
}

// evalConst evaluates a constant expression; the string says what is wrong.
func evalConst(o *ptx.Operand) (constant, string) {
	switch o.Kind {
	case ptx.Int:
		return constant{bits: o.Bits, unsigned: o.Unsigned}, ""
	case ptx.Float:
		if o.Single {
			f := math.Float32frombits(uint32(o.Bits))
			return constant{bits: math.Float64bits(float64(f)), float: true, single: true, bits32: uint32(o.Bits)}, ""
		}
		return constant{bits: o.Bits, float: true}, ""
	case ptx.Name:
		if o.Text == "WARP_SZ" {
			return constant{bits: 32}, ""
		}
		return constant{}, fmt.Sprintf("%s is not a constant", o.Text)
	case ptx.Unary:
		return evalUnary(o)
	case ptx.Binary:
		return evalBinary(o)
	case ptx.Cond:
		c, err := evalConst(&o.Elems[0])
		if err != "" {
			return c, err
		}
		if c.bits != 0 {
			return evalConst(&o.Elems[1])
		}
		return evalConst(&o.Elems[2])
	}
	return constant{}, "a constant is wanted here"
}

func evalUnary(o *ptx.Operand) (constant, string) {
	c, err := evalConst(&o.Elems[0])
	if err != "" {
		return c, err
	}
	if c.float {
		switch o.Text {
		case "-":
			return constant{bits: c.bits ^ 1<<63, float: true}, ""
		case "+":
			return c, ""
		}
		return c, fmt.Sprintf("operator %s does not apply to a floating-point constant", o.Text)
	}
	switch o.Text {
	case "-":
		c.bits = -c.bits
	case "+":
	case "~":
		c.bits = ^c.bits
	case "!":
		return truth(c.bits == 0), ""
	case "(.s64)":
		c.unsigned = false
	case "(.u64)":
		c.unsigned = true
	default:
		return c, fmt.Sprintf("%s( ) is not a constant", o.Text)
	}
	return c, ""
}

func truth(b bool) constant {
	if b {
		return constant{bits: 1}
	}
	return constant{}
}

func evalBinary(o *ptx.Operand) (constant, string) {
	x, err := evalConst(&o.Elems[0])
	if err != "" {
		return x, err
	}
	y, err := evalConst(&o.Elems[1])
	if err != "" {
		return y, err
	}
	if x.float || y.float {
		return x, "floating-point constants take no operators"
	}
	u := x.unsigned || y.unsigned
	a, b := x.bits, y.bits
	less := int64(a) < int64(b)
	if u {
		less = a < b
	}
	switch o.Text {
	case "+":
		a += b
	case "-":
		a -= b
	case "*":
		a *= b
	case "/", "%":
		return divide(o.Text, a, b, u)
	case "<<":
		return constant{bits: shift(a, b), unsigned: x.unsigned}, ""
	case ">>":
		if x.unsigned {
			return constant{bits: a >> min(b, 64), unsigned: true}, ""
		}
		return constant{bits: uint64(int64(a) >> min(b, 63))}, ""
	case "&":
		a &= b
	case "|":
		a |= b
	case "^":
		a ^= b
	case "<":
		return truth(less), ""
	case ">=":
		return truth(!less), ""
	case ">":
		return truth(!less && a != b), ""
	case "<=":
		return truth(less || a == b), ""
	case "==":
		return truth(a == b), ""
	case "!=":
		return truth(a != b), ""
	case "&&":
		return truth(a != 0 && b != 0), ""
	case "||":
		return truth(a != 0 || b != 0), ""
	}
	return constant{bits: a, unsigned: u}, ""
}

func shift(a, b uint64) uint64 {
	if b > 63 {
		return 0
	}
	return a << b
}

func divide(op string, a, b uint64, unsigned bool) (constant, string) {
	switch {
	case b == 0:
		return constant{}, "division by zero in a constant"
	case unsigned && op == "/":
		return constant{bits: a / b, unsigned: true}, ""
	case unsigned:
		return constant{bits: a % b, unsigned: true}, ""
	case b == math.MaxUint64: // -1: MinInt64 / -1 would trap
		if op == "/" {
			return constant{bits: -a}, ""
		}
		return constant{}, ""
	case op == "/":
		return constant{bits: uint64(int64(a) / int64(b))}, ""
	}
	return constant{bits: uint64(int64(a) % int64(b))}, ""
}

// as converts the constant to the bits of a type, as PTX does on use: integers
// are truncated, doubles rounded to nearest. A 0f literal stands for its bits
// in an untyped 32-bit place, a 0d one in a 64-bit place.
func (c constant) as(t ir.Type) (bits uint64, problem string) {
	switch {
	case t == ir.Pred:
		if c.float {
			return 0, "a floating-point constant is no predicate"
		}
		return truth(c.bits != 0).bits, ""
	case !c.float && (t == ir.F32 || t == ir.F64):
		return 0, fmt.Sprintf("an integer constant where .%s is wanted", t)
	case !c.float:
		if n := t.Size(); n < 8 {
			return c.bits & (1<<(8*n) - 1), ""
		}
		return c.bits, ""
	case t == ir.F64:
		return c.bits, ""
	case t == ir.F32 || t == ir.B32 || t == ir.TF32:
		if c.single {
			return uint64(c.bits32), ""
		}
		if t == ir.F32 {
			return uint64(math.Float32bits(float32(math.Float64frombits(c.bits)))), ""
		}
	case t == ir.B64 && !c.single:
		return c.bits, ""
	}
	return 0, fmt.Sprintf("a floating-point constant where .%s is wanted", t)
}
