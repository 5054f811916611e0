// Package call has what a kernel is called with: a grid and blocks, arguments and what is in
// them, and what a compiler is given for it.
package call

import (
	"fmt"

	"github.com/warptune/warptune/search/expr"
)

// Answer says how what a kernel writes is checked.
type Answer uint8

// Answers. The zero value is the default.
const (
	// AnswerConsistent: every configuration agrees with the first on the elements that
	// both write.
	AnswerConsistent Answer = iota
	// AnswerNone: it is not.
	AnswerNone
)

// Arg is one kernel argument or __constant__ variable.
type Arg struct {
	Name   string
	Type   Type
	Lanes  int    // 1, or 2, 3, 4, 8, 16 of a vector type such as float4
	Scalar bool   // passed by value: Bits holds it
	Bits   uint64 // the scalar's bits, little-endian in the low Type.Bytes()
	Bytes  []byte // of a vector or structure passed by value, instead of Bits; nil: one number
	Count  int64  // elements of a buffer, each of Lanes values
	Fill   Fill   // contents of a buffer
	Offset int64  // bytes from the buffer's start to where the pointer that is passed points
	Access Access
	// Map, if not nil, makes it a tensor map passed by value. Type, Count and Fill are those of its own
	// buffer, unless Map.Of says otherwise.
	Map *TensorMap
	// Texture, if not nil, makes it a texture or surface object of a buffer of its own, passed by value.
	Texture *Texture
	// Managed says whether the buffer is in managed memory, and where its pages are.
	Managed Managed
	// Expected is what the buffer holds when the kernel has ended; nil: not given.
	Expected  *Raw
	Answer    Answer
	Tolerance float64 // share by which values may differ; 0: what fits the type
	// Position is where it stands in the definition's list. Some kernels are given
	// a constant's values as a parameter too.
	Position int
}

// TypeName is the element type with its lanes as T1 or CUDA write it, such as float4.
func (a *Arg) TypeName() string { return a.Type.Vector(a.Lanes) }

// FillKind says how a buffer is filled. The zero value is invalid.
type FillKind uint8

// Kinds of fill.
const (
	FillInvalid FillKind = iota
	FillConstant
	FillRandom
	FillGenerator
	FillBinaryRaw
)

// String returns the kind as T1 writes it.
func (k FillKind) String() string {
	if k > FillBinaryRaw {
		k = FillInvalid
	}
	return [...]string{"invalid", "Constant", "Random", "Generator", "BinaryRaw"}[k]
}

// Fill is the contents of a buffer.
type Fill struct {
	Kind  FillKind
	Value float64    // Constant: every element; Random: the exclusive upper bound
	Least float64    // Random: the lower bound
	Seed  uint64     // Random
	Expr  *expr.Expr // Generator: over the element index i only; parameters are replaced by their values
	Raw   *Raw       // BinaryRaw
}

// Generator returns the function of the element index that a Generator stands
// for. The function is not safe for concurrent use.
func (f Fill) Generator() (func(i int64) (float64, error), error) {
	if f.Expr == nil {
		return nil, fmt.Errorf("fill %s has no generator", f.Kind)
	}
	p, err := expr.Compile(f.Expr, []expr.Var{{Name: "i", Kind: expr.KindInt}})
	if err != nil {
		return nil, err
	}
	env := expr.NewEnv(1)
	return func(i int64) (float64, error) {
		env.Set(0, expr.Int(i))
		return p.Float(env)
	}, nil
}

// Access is how a kernel uses a buffer. The zero value is invalid.
type Access uint8

// Access types.
const (
	AccessInvalid Access = iota
	ReadOnly
	WriteOnly
	ReadWrite
)

// String returns the access as T1 writes it.
func (a Access) String() string {
	if a > ReadWrite {
		a = AccessInvalid
	}
	return [...]string{"invalid", "ReadOnly", "WriteOnly", "ReadWrite"}[a]
}

// Managed says where the pages of a buffer in managed memory are when the kernel is first launched.
type Managed uint8

// Places of managed memory.
const (
	ManagedNot     Managed = iota // it is ordinary device memory
	ManagedHost                   // in the host's memory, which it wrote
	ManagedNowhere                // nobody has touched them
	ManagedDevice                 // in device memory, where a kernel or a prefetch left them
)

// MaxCount bounds a buffer's elements: more than any GPU's memory.
const MaxCount = 1 << 40
