package functional_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// contents makes what every buffer and constant holds before a launch: random
// inputs in the definition's range, and garbage where the kernel is to write, so
// that an element it leaves out shows.
func contents(launch *call.Launch) map[string][]byte {
	rng := rand.New(rand.NewPCG(7, 11))
	all := map[string][]byte{}
	for _, a := range append(append([]call.Arg(nil), launch.Constants...), launch.Args...) {
		if a.Scalar {
			continue
		}
		var b []byte
		for range a.Count {
			switch {
			case a.Access == call.WriteOnly:
				b = appendElement(b, a.Type, 0x7fc0dead)
			case a.Access == call.ReadWrite:
				b = appendElement(b, a.Type, 0)
			case a.Type == call.Float:
				b = appendElement(b, a.Type, uint64(math.Float32bits(rng.Float32())))
			default:
				b = appendElement(b, a.Type, uint64(rng.Int64N(bound(a))))
			}
		}
		all[a.Name] = b
	}
	return all
}

// bound is the exclusive upper bound of an integer input.
func bound(a call.Arg) int64 {
	if a.Fill.Kind == call.FillRandom {
		return int64(a.Fill.Value)
	}
	return 100
}

func appendElement(b []byte, t call.Type, bits uint64) []byte {
	if t == call.Uint8 {
		return append(b, byte(bits))
	}
	return binary.LittleEndian.AppendUint32(b, uint32(bits))
}

// elem is an argument's element type as the simulator names it. The built-in
// kernels use these.
func elem(t call.Type) ir.Type {
	switch t {
	case call.Uint8:
		return ir.U8
	case call.Int32:
		return ir.S32
	case call.Uint32:
		return ir.U32
	case call.Float:
		return ir.F32
	case call.Double:
		return ir.F64
	}
	return ir.TypeInvalid
}
