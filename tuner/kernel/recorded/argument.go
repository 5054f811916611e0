package recorded

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// types are names of element types in launch records besides T1's: Triton's and PyTorch's.
var types = map[string]call.Type{
	"i1": call.Bool, "u1": call.Bool, "int1": call.Bool, "i8": call.Int8, "i16": call.Int16, "i32": call.Int32, "i64": call.Int64, "u8": call.Uint8, "u16": call.Uint16, "u32": call.Uint32, "u64": call.Uint64,
	"fp16": call.Half, "bf16": call.Bfloat16, "fp32": call.Float, "f32": call.Float, "fp64": call.Double, "f64": call.Double, "f16": call.Half,
	"fp8e4nv": call.Float8E4M3, "float8_e4m3fn": call.Float8E4M3, "e4m3": call.Float8E4M3, "fp8e5": call.Float8E5M2, "e5m2": call.Float8E5M2,
}

// numberType reads the name of an element type.
func numberType(name string) (call.Type, int, error) {
	if t, ok := types[name]; ok {
		return t, 1, nil
	}
	return call.ParseType(name)
}

// argument is the i-th argument as the simulator is given it.
func (r *Record) argument(i int) (call.Arg, error) {
	a := &r.Args[i]
	switch {
	case a.TensorMap:
		return r.tensorMap(i)
	case a.Vector:
		return a.buffer(i)
	}
	return a.scalar()
}

// buffer is a buffer in device memory. Floats are random, integers random from Min to Max:
// without those zero, which is an index that is always there.
func (a *Arg) buffer(position int) (call.Arg, error) {
	out := call.Arg{Name: a.Name, Access: call.ReadWrite, Fill: call.Fill{Kind: call.FillConstant}}
	var err error
	if out.Type, out.Lanes, err = numberType(a.Type); err != nil {
		return out, err
	}
	if a.Count < 1 || a.Count > call.MaxCount {
		return out, fmt.Errorf("count: %d is outside 1 to %d", a.Count, int64(call.MaxCount))
	}
	if a.Offset < 0 || a.Offset > call.MaxCount {
		return out, fmt.Errorf("offset: %d is outside 0 to %d", a.Offset, int64(call.MaxCount))
	}
	out.Count = a.Count + a.Offset
	out.Offset = a.Offset * int64(out.Type.Bytes()*out.Lanes)
	out.Fill, err = a.fill(out.Type, position)
	return out, err
}

func (a *Arg) fill(t call.Type, position int) (call.Fill, error) {
	f := call.Fill{Kind: call.FillRandom, Value: 1, Seed: uint64(position)}
	lo, hi, isInt := t.Integers()
	if a.Min == nil || a.Max == nil {
		if isInt {
			f = call.Fill{Kind: call.FillConstant}
		}
		return f, nil
	}
	least, errLeast := a.Min.Float64()
	most, errMost := a.Max.Float64()
	switch {
	case errLeast != nil || errMost != nil || math.IsInf(least, 0) || math.IsInf(most, 0):
		return f, fmt.Errorf("min and max: finite numbers are needed, not %s and %s", *a.Min, *a.Max)
	case least > most:
		return f, fmt.Errorf("min: %s is more than max, %s", *a.Min, *a.Max)
	case isInt && (least < lo || most > hi):
		return f, fmt.Errorf("min and max: %s to %s are not values of type %s", *a.Min, *a.Max, t)
	}
	f.Least, f.Value = least, most
	if isInt {
		f.Value = math.Floor(most) + 1
	}
	if f.Least == f.Value {
		f = call.Fill{Kind: call.FillConstant, Value: f.Value}
	}
	return f, nil
}

// scalar is a number passed by value.
func (a *Arg) scalar() (call.Arg, error) {
	out := call.Arg{Name: a.Name, Scalar: true, Count: 1, Access: call.ReadOnly}
	var err error
	if out.Type, out.Lanes, err = numberType(a.Type); err != nil {
		return out, err
	}
	if out.Lanes > 1 {
		return out, fmt.Errorf("type %s: vectors by value are not part of launch records", out.TypeName())
	}
	isInt, i, f, err := scalarValue(a.Value, out.Type)
	if err != nil {
		return out, err
	}
	bits, fits := out.Type.Encode(isInt, i, f)
	if !fits {
		return out, fmt.Errorf("value: %s is not a value of type %s", a.Value, out.Type)
	}
	out.Bits, out.Fill = bits, call.Fill{Kind: call.FillConstant, Value: f}
	if f != f || math.IsInf(f, 0) {
		out.Fill.Value = 0 // Bits say it
	}
	return out, nil
}

// scalarValue reads a JSON number, a truth value or a text that is one. Of floats "inf", "-inf" and "nan" are, too. Integers
// beyond int64 are of unsigned types and of floats.
func scalarValue(raw json.RawMessage, t call.Type) (isInt bool, i int64, f float64, err error) {
	lo, _, integer := t.Integers()
	text := strings.Trim(string(raw), `"`)
	switch text {
	case "":
		return false, 0, 0, fmt.Errorf("value: missing; a scalar has one")
	case "true":
		return true, 1, 1, nil
	case "false":
		return true, 0, 0, nil
	case "null":
		if integer {
			return false, 0, 0, fmt.Errorf("value: null is not a value of type %s", t)
		}
		return false, 0, 0, fmt.Errorf(`value: null is not a value of type %s; what is no finite number is "inf", "-inf" or "nan"`, t)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return true, i, float64(i), nil
	}
	if u, err := strconv.ParseUint(text, 10, 64); err == nil && lo == 0 {
		return true, int64(u), float64(u), nil
	}
	if f, err = strconv.ParseFloat(text, 64); err != nil || integer && (math.IsInf(f, 0) || f != f) {
		return false, 0, 0, fmt.Errorf("value: a number is expected, not %.40s", raw)
	}
	return false, 0, f, nil
}

// trailing adds the pointers behind the arguments: to scratch memory, zero at first, or null.
func (r *Record) trailing(l *call.Launch) error {
	if len(r.Scratch) > len(r.Trailing) {
		return fmt.Errorf("scratch: %d sizes are given for %d trailing_params", len(r.Scratch), len(r.Trailing))
	}
	ctas := int64(1)
	for _, n := range l.Grid {
		if ctas > call.MaxCount/n {
			return fmt.Errorf("grid: %v is larger than any GPU launches", l.Grid)
		}
		ctas *= n
	}
	for i, name := range r.Trailing {
		size := int64(0)
		if i < len(r.Scratch) {
			size = r.Scratch[i]
		}
		a := call.Arg{Name: name, Type: call.Uint64, Lanes: 1, Scalar: true, Count: 1, Position: len(l.Args), Access: call.ReadWrite, Fill: call.Fill{Kind: call.FillConstant}}
		switch {
		case size < 0 || size > call.MaxCount/ctas:
			return fmt.Errorf("scratch: %d bytes of %s for each of %d CTAs are none, or more than a GPU has", size, name, ctas)
		case size > 0:
			a.Type, a.Scalar, a.Count, a.Answer = call.Uint8, false, size*ctas, call.AnswerNone
		}
		l.Args = append(l.Args, a)
	}
	return nil
}
