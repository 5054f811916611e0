// Package wire is what the process that measures is told and says: one JSON object a
// line, jobs on its standard input, and on its standard output a greeting and then a
// result for each job. The process is one of its own, since a kernel may hang it or
// end its context: whoever starts it can end it.
package wire

import "github.com/warptune/warptune/simengine/ir"

// Greeting is the first line: what there is to measure on, or why there is nothing.
type Greeting struct {
	Refusal string `json:"refusal,omitempty"` // why nothing can be measured: a sentence
	Device  Device `json:"device"`
}

// Device is the GPU and its driver.
type Device struct {
	GPU    string `json:"gpu"` // e.g. "NVIDIA H100 80GB HBM3"
	CC     [2]int `json:"cc"`
	SMs    int    `json:"sms"`
	L2     int    `json:"l2"`     // bytes
	Memory uint64 `json:"memory"` // bytes
	// SharedSM is the shared memory of an SM, SharedOptIn the most that a CTA gets, bytes.
	SharedSM    int `json:"shared_sm"`
	SharedOptIn int `json:"shared_opt_in"`
	// Bandwidth is that of the memory, bytes/s, by its clock and the width of its bus; 0: the
	// driver does not tell.
	Bandwidth float64 `json:"bandwidth"`
	Driver    string  `json:"driver"` // e.g. "580.159.04"; "": NVML does not tell
	CUDA      int     `json:"cuda"`   // the driver's version of CUDA, 1000 x major + 10 x minor
	// Unwatched says why clocks are not read; "": they are.
	Unwatched string `json:"unwatched,omitempty"`
}

// Job is one launch to measure.
type Job struct {
	Image        []byte    `json:"image"` // PTX, or a cubin
	MaxRegisters int       `json:"max_registers,omitempty"`
	Entry        string    `json:"entry"`
	Grid         [3]uint32 `json:"grid"`
	Block        [3]uint32 `json:"block"`
	Cluster      [3]uint32 `json:"cluster,omitempty"`
	Cooperative  bool      `json:"cooperative,omitempty"`
	Shared       int       `json:"shared,omitempty"` // dynamic, bytes
	CarveOut     int       `json:"carve_out"`        // percent, -1: the driver's choice
	Buffers      []Buffer  `json:"buffers"`
	Params       []Param   `json:"params"`
	Constants    []Param   `json:"constants,omitempty"` // __constant__ variables, by name
	Read         []Range   `json:"read,omitempty"`      // what is to be read after one launch
	Plan         Plan      `json:"plan"`
	// Script is what is done of the image instead of a launch that is timed; nil: that.
	Script *Script `json:"script,omitempty"`
}

// Buffer is device memory and what it holds before the kernel runs.
type Buffer struct {
	Elem  ir.Type `json:"elem"`
	Count int64   `json:"count"` // elements
	Fill  string  `json:"fill"`  // constant, random, or a file with the contents
	Value float64 `json:"value,omitempty"`
	Least float64 `json:"least,omitempty"`
	Seed  uint64  `json:"seed,omitempty"`
	File  string  `json:"file,omitempty"`
	// Managed says where pages of a buffer in managed memory are before the first launch. "": it is
	// device memory.
	Managed string `json:"managed,omitempty"`
}

// Places of Buffer.Managed.
const (
	ManagedHost    = "host"    // the host wrote them, in memory allocated anew
	ManagedNowhere = "nowhere" // nobody has touched them
	ManagedDevice  = "device"
)

// Kinds of Buffer.Fill.
const (
	FillConstant = "constant"
	FillRandom   = "random"
	FillFile     = "file"
)

// Param is a kernel parameter: bytes, the address of a buffer, a tensor map, or a texture. Of a
// constant it is the variable's contents, those of a buffer.
type Param struct {
	Name   string     `json:"name,omitempty"`
	Bytes  []byte     `json:"bytes,omitempty"`
	Buffer int        `json:"buffer"` // index, if there are no Bytes
	Offset int64      `json:"offset,omitempty"`
	Map    *TensorMap `json:"map,omitempty"`
	// Texture makes it a texture or surface object of the buffer.
	Texture *Texture `json:"texture,omitempty"`
}

// Texture describes a texture or a surface. Numbers are those of cuda.h.
type Texture struct {
	Format         int       `json:"format"` // CUarray_format
	Channels       int       `json:"channels"`
	Texel          int       `json:"texel"`  // bytes
	Shape          []uint64  `json:"shape"`  // texels, innermost first
	Layers         uint64    `json:"layers"` // 0: not layered
	Surface        bool      `json:"surface,omitempty"`
	Linear         bool      `json:"linear,omitempty"` // in linear memory, else an array
	Modes          [3]uint32 `json:"modes"`            // CUaddress_mode
	Filter         uint32    `json:"filter"`           // CUfilter_mode
	Normalized     bool      `json:"normalized,omitempty"`
	ReadNormalized bool      `json:"read_normalized,omitempty"`
}

// TensorMap describes a tensor in the parameter's buffer, from its offset on. See cuda.TensorMap.
type TensorMap struct {
	Elem           int      `json:"elem"` // CUtensorMapDataType
	Shape          []uint64 `json:"shape"`
	Strides        []uint64 `json:"strides"`
	Box            []uint32 `json:"box"`
	ElementStrides []uint32 `json:"element_strides"`
	Interleave     int      `json:"interleave,omitempty"`
	Swizzle        int      `json:"swizzle,omitempty"`
	L2Promotion    int      `json:"l2_promotion,omitempty"`
	FillNaN        bool     `json:"fill_nan,omitempty"`
}

// Range is bytes of a buffer.
type Range struct {
	Buffer int   `json:"buffer"`
	From   int64 `json:"from"`
	Bytes  int64 `json:"bytes"`
}

// Plan says how much is measured. Times are in microseconds.
type Plan struct {
	WarmUp  float64 `json:"warm_up"` // launches until so much time has passed
	Batch   float64 `json:"batch"`   // least time of a batch of launches back to back
	Batches int     `json:"batches"`
	Cold    int     `json:"cold"`  // launches with nothing of theirs in L2
	First   int     `json:"first"` // launches with pages of managed memory where they are in the beginning
	Total   float64 `json:"total"` // beyond it there are fewer batches, three at least
}

// Stages of a job, for the message of one that does not end.
const (
	StageLoading  = "its code was loaded"
	StageFilling  = "its buffers were filled"
	StageChecking = "it was launched once"
	StageTiming   = "it was timed"
	StageScript   = "its kernels ran"
)

// Reply is a line that answers a job: the stage that begins, or the result.
type Reply struct {
	Stage  string  `json:"stage,omitempty"`
	Result *Result `json:"result,omitempty"`
}

// Result is what measuring a launch gave.
type Result struct {
	Failure *Failure `json:"failure,omitempty"`

	Registers    int `json:"registers"`
	LocalBytes   int `json:"local_bytes"`
	StaticShared int `json:"static_shared"`
	ConstBytes   int `json:"const_bytes"`

	Launches int       `json:"launches"` // of a batch
	Warm     []float64 `json:"warm"`     // of each batch, microseconds a launch, by the GPU's clock
	Host     []float64 `json:"host"`     // of each batch as a whole, microseconds by the host's clock
	Cold     []float64 `json:"cold"`     // of each launch, microseconds
	First    []float64 `json:"first"`    // of each launch that has pages of managed memory to migrate, microseconds
	GPUTime  float64   `json:"gpu_time"` // of the whole job, microseconds by the host's clock

	Read   [][]byte `json:"read,omitempty"`
	States []State  `json:"states,omitempty"` // of the GPU, one in each batch

	Done []Done `json:"done,omitempty"` // of each step of a script
}

// Kinds of Failure.
const (
	FailedLoad    = "load"    // the code is refused
	FailedLaunch  = "launch"  // the launch is refused
	FailedRun     = "run"     // the kernel faulted
	FailedMachine = "machine" // it is not the configuration's doing
)

// Failure says why there are no times.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	// Fatal says that the process can measure nothing more.
	Fatal bool `json:"fatal,omitempty"`
}

// State is what the GPU was doing.
type State struct {
	SM          int    `json:"sm"`     // MHz
	Memory      int    `json:"memory"` // MHz
	MaxSM       int    `json:"max_sm"`
	Temperature int    `json:"temperature"`
	Power       int    `json:"power"` // watts
	Reasons     uint64 `json:"reasons"`
}
