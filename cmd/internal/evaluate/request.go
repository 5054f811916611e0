// Package evaluate joins kernel definitions, compilers and the simulator: one
// configuration of a kernel in, one outcome out. It is what a worker runs for
// each trial and what the command line's simulate, explain and fidelity run
// for each record.
//
// It keeps no sweep state and speaks no protocol.
package evaluate

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/tuner/kernel/call"
)

// elements maps a definition's element types to PTX's.
var elements = map[call.Type]ir.Type{
	call.Bool: ir.U8, call.Int8: ir.S8, call.Uint8: ir.U8, call.Int16: ir.S16, call.Uint16: ir.U16,
	call.Int32: ir.S32, call.Uint32: ir.U32, call.Int64: ir.S64, call.Uint64: ir.U64,
	call.Half: ir.F16, call.Float: ir.F32, call.Double: ir.F64,
	call.Bfloat16: ir.BF16, call.Float8E4M3: ir.E4M3, call.Float8E5M2: ir.E5M2,
}

// request turns a launch into what the simulator is asked.
func request(l *call.Launch, d *arch.Descriptor, level simengine.Level) (simengine.Request, error) {
	r := simengine.Request{
		Kernel: l.KernelName, Arch: d, Level: level,
		Cooperative: l.Cooperative, Replicas: l.Replicas, DynamicShared: l.DynamicShared, MaxRegisters: l.MaxRegisters, CarveOut: l.CarveOut,
	}
	for i := range 3 {
		if l.Grid[i] > math.MaxInt32 || l.Block[i] > math.MaxInt32 {
			return r, fmt.Errorf("grid %v of blocks %v is larger than any GPU launches", l.Grid, l.Block)
		}
		r.Grid[i], r.CTA[i], r.Cluster[i] = int(l.Grid[i]), int(l.Block[i]), int(l.Cluster[i])
	}
	var err error
	if r.Args, err = arguments(l.Args); err != nil {
		return r, err
	}
	r.Constants, err = arguments(l.Constants)
	return r, err
}

func arguments(args []call.Arg) ([]simengine.Arg, error) {
	out := make([]simengine.Arg, len(args))
	for i, a := range args {
		elem, ok := elements[a.Type]
		if !ok {
			return nil, fmt.Errorf("argument %s: type %s cannot be simulated", a.Name, a.Type)
		}
		fill, err := fill(&a)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", a.Name, err)
		}
		out[i] = simengine.Arg{Name: a.Name, Elem: elem, Lanes: a.Lanes, Scalar: a.Scalar, Bits: a.Bits, Bytes: a.Bytes, Count: a.Count, Offset: a.Offset, Fill: fill, Position: a.Position}
		if a.Map != nil {
			if out[i].Map, err = tensorMap(a.Map); err != nil {
				return nil, fmt.Errorf("argument %s: %w", a.Name, err)
			}
		}
		out[i].Managed = [...]simengine.Managed{simengine.ManagedNot, simengine.ManagedHost, simengine.ManagedNowhere, simengine.ManagedDevice}[a.Managed]
		if a.Texture != nil {
			out[i].Texture = texture(a.Texture)
		}
	}
	return out, nil
}

func texture(t *call.Texture) *simengine.Texture {
	out := &simengine.Texture{Shape: t.Shape, Surface: t.Surface, Linear: t.Linear, Filter: t.Filter, Normalized: t.Normalized, ReadNormalized: t.ReadNormalized}
	if t.Layered {
		last := len(t.Shape) - 1
		out.Shape, out.Layers = t.Shape[:last], t.Shape[last]
	}
	for _, m := range t.Address {
		out.Modes = append(out.Modes, [...]simengine.TextureMode{simengine.TextureClamp, simengine.TextureWrap, simengine.TextureMirror, simengine.TextureBorder}[m])
	}
	return out
}

func tensorMap(m *call.TensorMap) (*simengine.TensorMap, error) {
	elem, ok := elements[m.Elem]
	if !ok {
		return nil, fmt.Errorf("type %s cannot be simulated", m.Elem)
	}
	return &simengine.TensorMap{
		Elem: elem, Of: m.Of, Offset: m.Offset, Shape: m.Shape, Strides: m.Strides, Box: narrow(m.Box), ElementStrides: narrow(m.ElementStrides),
		Swizzle: m.Swizzle, Interleave: m.Interleave, L2Promotion: m.L2Promotion, FillNaN: m.FillNaN,
	}, nil
}

// narrow converts numbers that fit an int; nil stays nil.
func narrow(list []int64) []int {
	var out []int
	for _, v := range list {
		out = append(out, int(v))
	}
	return out
}

func fill(a *call.Arg) (simengine.Fill, error) {
	f := &a.Fill
	out := simengine.Fill{Value: f.Value, Least: f.Least, Seed: f.Seed}
	switch f.Kind {
	case call.FillConstant:
		out.Kind = simengine.FillConstant
	case call.FillRandom:
		out.Kind = simengine.FillRandom
	case call.FillGenerator:
		at, err := f.Generator()
		if err != nil {
			return out, err
		}
		out.Kind, out.Text, out.At = simengine.FillGenerator, f.Expr.String(), generated(at)
	case call.FillBinaryRaw:
		raw, elem := f.Raw, a.Type
		out.Kind, out.Text = simengine.FillGenerator, "file sha256:"+raw.Digest
		out.At = func(i int64) float64 { return raw.Value(elem, i) }
	}
	return out, nil
}

// generated is a generator whose elements cannot fail: one that does (a division
// by zero, say) is NaN, which no integer element takes for a valid address.
func generated(at func(int64) (float64, error)) func(int64) float64 {
	return func(i int64) float64 {
		v, err := at(i)
		if err != nil {
			return math.NaN()
		}
		return v
	}
}
