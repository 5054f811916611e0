package kernel

import "github.com/warptune/warptune/search/expr"

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

// Launch is one configuration at one problem size, ready for a compiler and
// the simulator.
type Launch struct {
	KernelName    string
	Grid, Block   [3]int64 // CTAs; threads
	DynamicShared int      // bytes per CTA
	MaxRegisters  int      // per thread, 0: no cap
	CarveOut      int      // -1: the driver's choice, else percent of the maximum
	Args          []Arg    // kernel parameters in order
	Constants     []Arg    // __constant__ variables to fill, by name
	Compile       Compile
}

// Compile is what a compiler is given for a configuration. Configurations with
// equal Key share their PTX.
type Compile struct {
	Language   Language
	SourceFile string   // name of the source relative to the definition; for PTX the expanded path
	Source     []byte   // its contents
	Macros     []Macro  // -D, in order; none for PTX
	Options    []string // CompilerOptions
	Files      Files    // where #include "…" finds headers, relative to the definition
	Key        string   // sha-256 over all of the above, hex
}

// Macro is one -D.
type Macro struct{ Name, Value string }

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
)

// Arg is one kernel argument or __constant__ variable.
type Arg struct {
	Name   string
	Type   Type
	Lanes  int    // 1, or 2, 3, 4, 8, 16 of a vector type such as float4
	Scalar bool   // passed by value: Bits holds it
	Bits   uint64 // the scalar's bits, little-endian in the low Type.Bytes()
	Count  int64  // elements of a buffer
	Fill   Fill   // contents of a buffer
	Access Access
}

// FillKind says how a buffer is filled. The zero value is invalid.
type FillKind uint8

// Kinds of fill.
const (
	FillInvalid FillKind = iota
	FillConstant
	FillRandom
	FillGenerator
)

// Fill is the contents of a buffer.
type Fill struct {
	Kind  FillKind
	Value float64    // Constant: every element; Random: the exclusive upper bound
	Seed  uint64     // Random
	Expr  *expr.Expr // Generator: over i and the parameters
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
