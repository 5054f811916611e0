package simengine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/ir"
)

// Level is how closely a configuration is simulated. The zero value is invalid.
type Level uint8

// Levels.
const (
	LevelInvalid Level = iota
	// Cycle clocks one SM with its share of the memory system over a sample of
	// the grid. Its time is the geometric mean of the clocked one and Model's:
	// the first does not see the other SMs queue at what all share, the second
	// not the order of events, and their errors are different ones. On measured
	// configurations the mean ranks better than either (docs/FIDELITY.md);
	// stalls, shares and counters are the clocked SM's.
	Cycle
	// Model composes the time in closed form from the same sample.
	Model
)

func (l Level) String() string {
	switch l {
	case Cycle:
		return "cycle"
	case Model:
		return "model"
	}
	return "invalid"
}

// ParseLevel reads a level's name.
func ParseLevel(text string) (Level, error) {
	switch text {
	case "cycle":
		return Cycle, nil
	case "model":
		return Model, nil
	}
	return LevelInvalid, fmt.Errorf("unknown level %q: want cycle or model", text)
}

// Request is one configuration to predict.
type Request struct {
	Kernel        string // entry to launch; "" when the module has one
	Arch          *arch.Descriptor
	Level         Level
	Grid, CTA     [3]int
	Cluster       [3]int // CTAs of a cluster; zeros: what the PTX requires, else none
	Cooperative   bool   // all CTAs are to be resident together; a kernel that asks for its grid's workspace always is launched so
	DynamicShared int    // bytes
	MaxRegisters  int    // per thread, 0: no cap
	CarveOut      int    // percent of the largest shared memory size, -1: the driver's choice
	// Replicas: lanes of one store that write to one word of shared memory write the same element of a tensor, which they
	// may have summed in different orders. That is how Triton lays tensors out; which of the values stays does not matter.
	Replicas bool
	// Cold asks for a launch by itself, as a profiler makes one: caches hold
	// nothing of what it reads. Otherwise the launch follows others like it.
	Cold bool
	// Repeated says of such a launch that one before it stored the same: what it does not
	// update it finds stored already, and the profiler does not restore it.
	Repeated bool
	Args     []Arg // kernel parameters in order
	// Check says what is checked besides.
	Check Check
	// Constants are the __constant__ variables to fill, by name. A kernel that has
	// as many parameters as there are arguments and constants gets each of these as
	// a buffer too, at its Position, as Kernel Tuner passes them.
	Constants []Arg
	// Ideal is mechanisms that are to cost nothing: what if there were no bank conflicts?
	Ideal ideal.Set
	// Lines asks for Report.Lines. It changes nothing else and is no part of the digest.
	Lines bool
	// Assembled is what a real assembler made of the module; nil: the model of one says it.
	Assembled *Assembled
	// Without are ids of rules of the assembler model to leave out (see CheckRules).
	Without []string
}

// CheckRules reports an id that is not one of a rule of the assembler model; the error lists them.
func CheckRules(ids []string) error { return assemble.CheckRules(ids) }

// Arg is a kernel argument: a scalar, or a buffer in device memory.
type Arg struct {
	Name   string
	Elem   ir.Type // element type of the buffer, or the scalar's type
	Lanes  int     // elements of a vector type: 1, 2, 4...; 0 means 1
	Scalar bool
	Bits   uint64 // the scalar's bits
	Bytes  []byte // of a vector or structure passed by value, instead of Bits; nil: one number
	Count  int64  // elements of the buffer
	Offset int64  // bytes from the buffer's start to where the pointer points
	Fill   Fill
	// Map, if not nil, makes it a tensor map passed by value. Elem, Count and Fill are those of its own
	// buffer, unless Map.Of says otherwise.
	Map *TensorMap
	// Texture, if not nil, makes it a texture or surface object of its buffer, passed by value.
	Texture *Texture
	// Managed says whether the buffer is in managed memory, and where its pages are.
	Managed Managed
	// Position is where a constant stands among arguments and constants, from 0.
	Position int
}

// TensorMap describes a tensor in device memory and the boxes in which it is copied (CUtensorMap).
// Dimensions are innermost first.
type TensorMap struct {
	Elem           ir.Type // of an element
	Of             int     // the argument whose buffer it describes, -1 its own
	Offset         int64   // bytes from the buffer's start
	Shape          []int64 // elements
	Strides        []int64 // bytes, of all dimensions but the innermost; nil: packed
	Box            []int   // elements
	ElementStrides []int   // nil: 1
	Swizzle        int     // bytes: 0 (none), 32, 64 or 128
	Interleave     int     // bytes: 0 (none), 16 or 32
	L2Promotion    int     // bytes: 0 (none), 64, 128 or 256
	FillNaN        bool    // elements out of bounds are NaN; else zero
}

// FillKind says how a buffer is filled. The zero value is invalid.
type FillKind uint8

// Kinds of fill.
const (
	FillInvalid FillKind = iota
	FillConstant
	FillRandom    // floats and integers in [Least, Value), by element index and Seed
	FillGenerator // At(i)
)

// Fill is the contents of a buffer.
type Fill struct {
	Kind  FillKind
	Value float64
	Least float64
	Seed  uint64
	At    func(i int64) float64
	Text  string // what At computes, for the digest
}

// Digest identifies the question: two requests with equal digests, made of
// equal PTX, have the same answer.
func (r *Request) Digest(module string) string { return r.digest(Version(), module) }

// digest is that of the question to a version of the simulator.
func (r *Request) digest(version, module string) string {
	h := sha256.New()
	text(h, "warptune", version, module, r.Kernel, r.Arch.Digest, r.Level.String())
	r.Check.digest(h)
	ints(h, r.Grid[:]...)
	ints(h, r.CTA[:]...)
	if r.Cluster != [3]int{} {
		text(h, "cluster")
		ints(h, r.Cluster[:]...)
	}
	if r.Cooperative {
		text(h, "cooperative")
	}
	if r.Replicas {
		text(h, "replicas")
	}
	cold := 0
	if r.Cold {
		cold = 1
		if r.Repeated {
			cold = 2
		}
	}
	ints(h, r.DynamicShared, r.MaxRegisters, r.CarveOut, cold, len(r.Args), len(r.Constants))
	for _, args := range [][]Arg{r.Args, r.Constants} {
		for i := range args {
			args[i].digest(h)
		}
	}
	if len(r.Without) > 0 {
		text(h, append([]string{"without"}, r.Without...)...)
	}
	if r.Ideal != 0 {
		text(h, "ideal", r.Ideal.String())
	}
	if r.Assembled != nil {
		text(h, "assembled", r.Assembled.By)
		if s := r.Assembled.Stated; s != nil {
			text(h, "stated", fmt.Sprint(s.Registers, s.SpillBytes))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *Check) digest(h hash.Hash) {
	flags := 0
	if c.Warn {
		flags |= 1
	}
	if c.Outputs {
		flags |= 2
	}
	if c.Always {
		flags |= 4
	}
	text(h, c.Depth.String(), c.Against)
	ints(h, flags)
}

func (a *Arg) digest(h hash.Hash) {
	text(h, a.Name, a.Fill.Text, string(a.Bytes))
	scalar := 0
	if a.Scalar {
		scalar = 1
	}
	ints(h, int(a.Elem), a.Lanes, scalar, int(a.Bits), int(a.Count), int(a.Fill.Kind),
		int(math.Float64bits(a.Fill.Value)), int(a.Fill.Seed), a.Position)
	if a.Fill.Least != 0 || a.Offset != 0 {
		text(h, "from")
		ints(h, int(math.Float64bits(a.Fill.Least)), int(a.Offset))
	}
	if a.Map != nil {
		a.Map.digest(h)
	}
	if a.Texture != nil {
		a.Texture.digest(h)
	}
	if a.Managed != ManagedNot {
		text(h, "managed", a.Managed.String())
	}
}

func (m *TensorMap) digest(h hash.Hash) {
	nan := 0
	if m.FillNaN {
		nan = 1
	}
	text(h, "map")
	ints(h, int(m.Elem), m.Of, int(m.Offset), m.Swizzle, m.Interleave, m.L2Promotion, nan)
	for _, list := range [][]int64{m.Shape, m.Strides} {
		ints(h, len(list))
		for _, v := range list {
			ints(h, int(v))
		}
	}
	for _, list := range [][]int{m.Box, m.ElementStrides} {
		ints(h, len(list))
		ints(h, list...)
	}
}

// text writes strings with their lengths, so that no two sequences collide.
func text(h hash.Hash, parts ...string) {
	for _, p := range parts {
		ints(h, len(p))
		h.Write([]byte(p))
	}
}

func ints(h hash.Hash, values ...int) {
	var b [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		h.Write(b[:])
	}
}
