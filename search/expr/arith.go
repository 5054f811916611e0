package expr

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

var (
	errOverflow = errors.New("integer does not fit in 64 bits")
	errDivide   = errors.New("division by zero")
	errComplex  = errors.New("power of a negative number is not real")
	errTooLarge = errors.New("result does not fit in a float")
	errShift    = errors.New("shift by a negative number")
)

func addInt(a, b int64) (int64, error) {
	s := a + b
	if (s^a)&(s^b) < 0 {
		return 0, errOverflow
	}
	return s, nil
}

func subInt(a, b int64) (int64, error) {
	s := a - b
	if (a^b)&(s^a) < 0 {
		return 0, errOverflow
	}
	return s, nil
}

func mulInt(a, b int64) (int64, error) {
	if int64(int32(a)) == a && int64(int32(b)) == b {
		return a * b, nil
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// signed high word from the unsigned one
	h := int64(hi) - a>>63&b - b>>63&a
	if h != int64(lo)>>63 {
		return 0, errOverflow
	}
	return int64(lo), nil
}

// floorDivInt rounds to minus infinity.
func floorDivInt(a, b int64) (int64, error) {
	if b == 0 {
		return 0, errDivide
	}
	if a == math.MinInt64 && b == -1 {
		return 0, errOverflow
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

// modInt has the sign of the divisor.
func modInt(a, b int64) (int64, error) {
	switch b {
	case 0:
		return 0, errDivide
	case -1:
		return 0, nil
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r, nil
}

// divInt is the float nearest to the exact quotient.
func divInt(a, b int64) (float64, error) {
	if b == 0 {
		return 0, errDivide
	}
	const exact = 1 << 53
	if -exact <= a && a <= exact && -exact <= b && b <= exact {
		return float64(a) / float64(b), nil
	}
	f, _ := big.NewRat(a, b).Float64()
	return f, nil
}

// powInt computes a**b for b >= 0.
func powInt(a, b int64) (int64, error) {
	result, err := int64(1), error(nil)
	for {
		if b&1 == 1 {
			if result, err = mulInt(result, a); err != nil {
				return 0, err
			}
		}
		if b >>= 1; b == 0 || a == 0 || a == 1 {
			// 0 and 1 are their own squares: the last multiplication decided
			if b > 0 && a == 0 {
				return 0, nil
			}
			return result, nil
		}
		if a, err = mulInt(a, a); err != nil {
			return 0, err
		}
	}
}

func divFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errDivide
	}
	return a / b, nil
}

// modFloat has the sign of the divisor, as CPython's float_rem.
func modFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errDivide
	}
	r := math.Mod(a, b)
	if r == 0 {
		return math.Copysign(0, b), nil
	}
	if (r < 0) != (b < 0) {
		r += b
	}
	return r, nil
}

// floorDivFloat follows CPython's float_floor_div: the quotient of what is
// left when the remainder is taken away, rounded to the nearest integer below.
func floorDivFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errDivide
	}
	r := math.Mod(a, b)
	q := (a - r) / b
	if r != 0 && (r < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b), nil
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f, nil
}

func powFloat(a, b float64) (float64, error) {
	if a == 0 && b < 0 {
		return 0, errDivide
	}
	if a < 0 && !math.IsInf(a, 0) && b != math.Trunc(b) {
		return 0, errComplex
	}
	f := nearestPower(a, b)
	if math.IsInf(f, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errTooLarge
	}
	return f, nil
}

// nearestPower is the float nearest to a**b where b is a whole number or a half, as CPython's
// (the C library's) is; math.Pow may be the next one. Other exponents are left to it.
func nearestPower(a, b float64) float64 {
	const most, precision = 1100, 256
	halves := 2 * b
	if a == 0 || math.IsInf(a, 0) || math.IsNaN(a) || math.Abs(b) > most || halves != math.Trunc(halves) {
		return math.Pow(a, b)
	}
	x := new(big.Float).SetPrec(precision).SetFloat64(math.Abs(a))
	result := new(big.Float).SetPrec(precision).SetInt64(1)
	if math.Mod(halves, 2) != 0 {
		result.Sqrt(x)
	}
	for n := uint64(math.Abs(math.Trunc(b))); n > 0; n >>= 1 {
		if n&1 == 1 {
			result.Mul(result, x)
		}
		x.Mul(x, x)
	}
	if b < 0 {
		result.Quo(big.NewFloat(1).SetPrec(precision), result)
	}
	f, _ := result.Float64()
	if a < 0 && math.Mod(b, 2) != 0 {
		f = -f
	}
	return f
}

// shiftLeft multiplies by a power of two.
func shiftLeft(a, b int64) (int64, error) {
	switch {
	case b < 0:
		return 0, errShift
	case a == 0:
		return 0, nil
	case b > 63 || a<<b>>b != a:
		return 0, errOverflow
	}
	return a << b, nil
}

// shiftRight divides by a power of two and rounds to minus infinity.
func shiftRight(a, b int64) (int64, error) {
	if b < 0 {
		return 0, errShift
	}
	return a >> min(b, 63), nil
}

// intOps give an Int for two Ints; / and ** may give a Float and are apart.
var intOps = map[string]func(a, b int64) (int64, error){
	"+": addInt, "-": subInt, "*": mulInt, "//": floorDivInt, "%": modInt, "<<": shiftLeft, ">>": shiftRight,
	"&": func(a, b int64) (int64, error) { return a & b, nil },
	"|": func(a, b int64) (int64, error) { return a | b, nil },
	"^": func(a, b int64) (int64, error) { return a ^ b, nil },
}

// ofBits reports operators that take integers only, and of which &, | and ^ give a truth
// value for two.
func ofBits(op string) bool { return strings.Contains("& | ^ << >>", op) }

var floatOps = map[string]func(a, b float64) (float64, error){
	"+":  func(a, b float64) (float64, error) { return a + b, nil },
	"-":  func(a, b float64) (float64, error) { return a - b, nil },
	"*":  func(a, b float64) (float64, error) { return a * b, nil },
	"/":  divFloat,
	"//": floorDivFloat,
	"%":  modFloat,
	"**": powFloat,
}

// arith applies a binary operator to two numbers.
func arith(op string, x, y Value) (Value, error) {
	if x.isInt() && y.isInt() {
		switch {
		case x.kind == KindBool && y.kind == KindBool && len(op) == 1 && ofBits(op):
			i, err := intOps[op](x.n, y.n)
			return Bool(i != 0), err
		case op == "/":
			f, err := divInt(x.n, y.n)
			return Float(f), err
		case op == "**" && y.n >= 0:
			i, err := powInt(x.n, y.n)
			return Int(i), err
		case op != "**":
			i, err := intOps[op](x.n, y.n)
			return Int(i), err
		}
	}
	float := floatOps[op]
	if float == nil {
		return Value{}, fmt.Errorf("%s needs integers, not %s and %s", op, brief(x), brief(y))
	}
	f, err := float(x.float(), y.float())
	return Float(f), err
}
