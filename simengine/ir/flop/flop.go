// Package flop counts the floating-point operations of an instruction by its opcode.
package flop

import (
	"regexp"
	"strconv"
	"strings"
)

// Operations is floating-point operations, or integer ones of tensor cores: one for each addition and multiplication.
type Operations struct {
	Kind string // "fp32", "fp64", "half", "tensor cores, fp16", …; "": there are none
	// Lane is of each active lane, Warp of the warp whatever its lanes.
	Lane, Warp float64
}

var mmaShape = regexp.MustCompile(`\.m(\d+)n(\d+)k(\d+)\.`)

// perLane is the operations of an element by the name of an instruction.
var perLane = map[string]float64{
	"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "sqrt": 1, "rcp": 1, "rsqrt": 1, "ex2": 1, "lg2": 1, "sin": 1, "cos": 1, "tanh": 1,
}

// Of is the operations of one execution of an instruction by a warp, of its opcode as PTX writes it.
func Of(opcode string) Operations {
	name, rest, _ := strings.Cut(opcode, ".")
	if name == "mma" || name == "wgmma" || name == "wmma" {
		return mmaFLOP(name, opcode)
	}
	n := perLane[name]
	switch {
	case n == 0:
	case strings.HasSuffix(rest, "f64"):
		return Operations{Kind: "fp64", Lane: n}
	case strings.HasSuffix(rest, "f32"):
		return Operations{Kind: "fp32", Lane: n}
	case strings.HasSuffix(rest, "f16x2"), strings.HasSuffix(rest, "bf16x2"):
		return Operations{Kind: "half", Lane: 2 * n}
	case strings.HasSuffix(rest, "f16"), strings.HasSuffix(rest, "bf16"):
		return Operations{Kind: "half", Lane: n}
	}
	return Operations{}
}

func mmaFLOP(name, opcode string) Operations {
	m := mmaShape.FindStringSubmatch(opcode + ".")
	if m == nil || !strings.Contains(opcode, "mma") || strings.Contains(opcode, ".load") || strings.Contains(opcode, ".store") {
		return Operations{}
	}
	n := 2.0
	for _, v := range m[1:] {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return Operations{}
		}
		n *= x
	}
	if name == "wgmma" {
		n /= 4 // the warps of a warpgroup
	}
	for _, t := range []struct{ part, kind string }{
		{".e4m3", "tensor cores, fp8"}, {".e5m2", "tensor cores, fp8"}, {".tf32", "tensor cores, tf32"}, {".bf16", "tensor cores, bf16"},
		{".f16", "tensor cores, fp16"}, {".f64", "tensor cores, fp64"}, {".s8", "tensor cores, int8"}, {".u8", "tensor cores, int8"},
	} {
		if strings.Contains(opcode, t.part) {
			return Operations{Kind: t.kind, Warp: n}
		}
	}
	return Operations{Kind: "tensor cores", Warp: n}
}
