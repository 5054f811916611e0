package call

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Language is a kernel's source language. The zero value is invalid.
type Language uint8

// Languages. Only CUDA and PTX can be launched; the others' spaces can be read.
const (
	LanguageInvalid Language = iota
	CUDA
	PTX
	OpenCL
	Vulkan
	Hypertuner
)

// String returns the language as T1 writes it.
func (l Language) String() string {
	if l > Hypertuner {
		l = LanguageInvalid
	}
	return [...]string{"invalid", "CUDA", "PTX", "OpenCL", "Vulkan", "Hypertuner"}[l]
}

// Type is an argument's element type. The zero value is invalid.
type Type uint8

// Element types.
const (
	TypeInvalid Type = iota
	Bool
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
	Half
	Float
	Double
	Bfloat16
	Float8E4M3
	Float8E5M2
	LastType = Float8E5M2
)

var typeNames = [...]string{"invalid", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "half", "float", "double",
	"bfloat16", "float8_e4m3", "float8_e5m2"}

// String returns the type as T1 writes it.
func (t Type) String() string {
	if t > LastType {
		t = TypeInvalid
	}
	return typeNames[t]
}

// Bytes returns the size of one value, 0 for an invalid type.
func (t Type) Bytes() int {
	if t > LastType {
		t = TypeInvalid
	}
	return [...]int{0, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1}[t]
}

// Vector returns the name of a type with lanes.
func (t Type) Vector(lanes int) string {
	if lanes <= 1 {
		return t.String()
	}
	if _, _, isInt := t.Integers(); isInt {
		for _, name := range []string{"char", "uchar", "short", "ushort", "int", "uint", "longlong", "ulonglong"} {
			if cudaVectors[name] == t {
				return fmt.Sprint(name, lanes)
			}
		}
	}
	return fmt.Sprintf("%s%d", t, lanes)
}

// Aliases are C's names, which are not T1's.
var Aliases = map[string]Type{"char": Int8, "uchar": Uint8, "short": Int16, "ushort": Uint16, "int": Int32, "uint": Uint32, "float16": Half, "float32": Float, "float64": Double,
	"longlong": Int64, "ulonglong": Uint64}

// cudaVectors are the names of CUDA's vector types without their number of lanes, which
// is 2 to 4.
var cudaVectors = map[string]Type{"char": Int8, "uchar": Uint8, "short": Int16, "ushort": Uint16, "int": Int32, "uint": Uint32,
	"long": Int64, "ulong": Uint64, "longlong": Int64, "ulonglong": Uint64, "float": Float, "double": Double}

// ParseType reads T1's name of an element type, such as uint8 or float4, or CUDA's of a
// vector type, such as int3.
func ParseType(name string) (t Type, lanes int, err error) {
	for t := Bool; t <= LastType; t++ {
		if name == typeNames[t] {
			return t, 1, nil
		}
	}
	for t := Half; t <= LastType; t++ {
		digits, ok := strings.CutPrefix(name, typeNames[t])
		if n, err := strconv.Atoi(digits); ok && err == nil && digits[0] != '+' && (n >= 2 && n <= 4 || n == 8 || n == 16) {
			return t, n, nil
		}
	}
	if t, ok := Aliases[name]; ok {
		return t, 1, nil
	}
	if base := strings.TrimRight(name, "234"); len(name) == len(base)+1 {
		if t, ok := cudaVectors[base]; ok {
			return t, int(name[len(base)] - '0'), nil
		}
	}
	return TypeInvalid, 0, fmt.Errorf("unknown element type %q; known are %s, those of floating point with 2, 3, 4, 8 or 16 lanes such as float4, and CUDA's vectors of integers such as int3", name, strings.Join(typeNames[1:], ", "))
}

// Integers returns the range of an integer type.
func (t Type) Integers() (lo, hi float64, ok bool) {
	switch t {
	case Bool:
		return 0, 1, true
	case Int8, Int16, Int32, Int64:
		half := math.Ldexp(1, 8*t.Bytes()-1)
		return -half, half - 1, true
	case Uint8, Uint16, Uint32, Uint64:
		return 0, math.Ldexp(1, 8*t.Bytes()) - 1, true
	}
	return 0, 0, false
}

// Encode returns the bits of an integer (exact) or a float as a value of the
// type, false when an integer type cannot hold it.
func (t Type) Encode(isInt bool, i int64, f float64) (uint64, bool) {
	switch t {
	case Half:
		return uint64(halfBits(float32(f))), true
	case Bfloat16, Float8E4M3, Float8E5M2:
		return smallFormats[t].encode(f), true
	case Float:
		return uint64(math.Float32bits(float32(f))), true
	case Double:
		return math.Float64bits(f), true
	}
	lo, hi, ok := t.Integers()
	if !ok || !(f >= lo && f <= hi) {
		return 0, false
	}
	if !isInt {
		if f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
			return 0, false
		}
		i = int64(f)
	}
	if t == Bool && i != 0 {
		i = 1
	}
	return uint64(i) & (math.MaxUint64 >> (64 - 8*t.Bytes())), true
}

// halfBits rounds to the nearest half-precision number, ties to even (IEEE 754
// binary16).
func halfBits(f float32) uint16 {
	b := math.Float32bits(f)
	sign, exp, man := uint16(b>>16&0x8000), int(b>>23&0xff), b&0x7fffff
	switch {
	case exp == 0xff && man != 0:
		return sign | 0x7e00 // NaN
	case exp > 142: // 2^16 and up, infinity
		return sign | 0x7c00
	case exp < 102: // below half of the smallest subnormal
		return sign
	}
	shift, out := uint(13), uint32(exp-112)<<10
	if exp < 113 { // subnormal
		man |= 0x800000
		shift, out = uint(126-exp), 0
	}
	out += man >> shift
	rest, tie := man&(1<<shift-1), uint32(1)<<(shift-1)
	if rest > tie || rest == tie && out&1 == 1 {
		out++ // may carry into the exponent, which is right
	}
	return sign | uint16(out)
}
