// Package rules lists the rules of the assembler model that imitate what ptxas was seen to do and
// that can be left out, one by one, to see what each of them earns.
//
// A rule stands here if programs are correct without it. What the model cannot do without, such as
// instruction selection itself, does not.
package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Rule names a rule.
type Rule uint8

// Rules, by stage.
const (
	AddressOffsets Rule = iota
	SaturationFolding
	HalfVectors
	SinkLoads

	AbsorbedMultiplies
	UniformInduction
	ParameterReuse
	LanesApart
	ConstantCSE

	BottomUpOrder
	PressureListOrder
	VectorLoadOrder
	ConstantPressure
	MMAOrder
	LookAhead
	LoadsAhead
	SharedLoadQueue

	HoistedParameters
	RematFloor
	OccupancyOverrun
	DeclaredSizes

	LateReads
	BankConflicts
	CoalesceHints

	ZeroPairs
	PipeBalance

	Count int = iota
)

// Info describes a rule: its id, what it does in a sentence, and what it is based on. The bases are
// a microbenchmark of deploy/calibrate, a corpus of ptxas' machine code that was counted, and
// single kernels whose machine code or measured times were looked at; "" where there is none.
type Info struct {
	ID, Does                        string
	Microbenchmark, Corpus, Kernels string
}

var table = [Count]Info{
	AddressOffsets:    {ID: "address-offsets", Does: "shared memory addresses that differ by a constant use one register and offsets", Kernels: "flash_mma"},
	SaturationFolding: {ID: "saturation-folding", Does: "additions and multiplications saturate by themselves", Corpus: "sm_90"},
	HalfVectors:       {ID: "half-vectors", Does: "accesses of 16-bit values in shared memory are joined", Kernels: "hgemm_tile"},
	SinkLoads:         {ID: "sink-loads", Does: "guarded loads of the next tile move behind the computation", Kernels: "gemm_ahead, splitk_sgemm"},

	AbsorbedMultiplies: {ID: "absorbed-multiplies", Does: "a multiplication that only additions read becomes part of each of them", Kernels: "rotate_image, great_circle"},
	UniformInduction:   {ID: "uniform-induction", Does: "pointers that all lanes step alike reside in uniform registers", Corpus: "145 programs of 13 kernels, sm_90"},
	ParameterReuse:     {ID: "parameter-reuse", Does: "a uniform parameter is taken from a block before, past guarded exits", Kernels: "rotate_image"},
	LanesApart:         {ID: "lanes-apart", Does: "where lanes of a warp may be apart, uniform registers keep no loop's variables, nor the descriptor of global memory", Corpus: "728 programs, sm_90a"},
	ConstantCSE:        {ID: "constant-cse", Does: "a constant is loaded once a block", Corpus: "HeCBench, sm_90", Kernels: "lavamd, charges_double"},

	BottomUpOrder:     {ID: "bottom-up-order", Does: "bottom-up order for few registers", Corpus: "convolutions, sm_75"},
	PressureListOrder: {ID: "pressure-list-order", Does: "top-down order for few registers, without a cap", Corpus: "clang's matrix products, sm_90", Kernels: "fat_threads"},
	VectorLoadOrder:   {ID: "vector-load-order", Does: "vector loads are used up one by one, under a cap", Corpus: "matrix products, sm_90"},
	ConstantPressure:  {ID: "constant-pressure", Does: "constants that uniform registers do not hold count as registers", Microbenchmark: "filters.py"},
	MMAOrder:          {ID: "mma-order", Does: "blocks with MMA keep their order, loads from global memory first", Corpus: "192 programs with MMA, sm_90"},
	LookAhead:         {ID: "look-ahead", Does: "instructions issue ahead of program order while the rest still fits", Corpus: "882 loops, sm_90"},
	LoadsAhead:        {ID: "loads-ahead", Does: "what a budget leaves goes to loads and shuffles, not to arithmetic, in programs for one architecture without products", Corpus: "315 Triton programs, sm_90a"},
	SharedLoadQueue:   {ID: "shared-load-queue", Does: "loads from shared memory run ahead by a queue's depth", Corpus: "stencils and matrix products, sm_90"},

	HoistedParameters: {ID: "hoisted-parameters", Does: "parameters of outer loops count for the occupancy step as if they were hoisted", Corpus: "sgemm, sm_90", Kernels: "lavamd, hotspot_milo"},
	RematFloor:        {ID: "remat-floor", Does: "rematerialisation without a cap aims at no fewer than 40 registers", Corpus: "94 programs, sm_90"},
	OccupancyOverrun:  {ID: "occupancy-overrun", Does: "programs with 16-byte loads in flight take more registers than their step", Corpus: "161 programs, sm_90"},
	DeclaredSizes:     {ID: "declared-sizes", Does: "a declared CTA size offers the registers that leave as many CTAs resident", Corpus: "222 kernels by seven sizes, sm_90 (bounds.py)"},

	LateReads:     {ID: "late-reads", Does: "sources of late readers keep their registers for six instructions", Corpus: "sines and cosines, sm_90"},
	BankConflicts: {ID: "bank-conflicts", Does: "registers are chosen so that operands lie in both banks", Corpus: "sm_90"},
	CoalesceHints: {ID: "coalesce-hints", Does: "chains of multiply-adds keep one register", Corpus: "sm_90"},

	ZeroPairs:   {ID: "zero-pairs", Does: "two registers are zeroed by one instruction", Kernels: "depthwise"},
	PipeBalance: {ID: "pipe-balance", Does: "integer and multiplier pipe get the same number of instructions", Corpus: "6,410 programs, sm_75 to sm_90"},
}

// All returns the rules in order.
func All() []Info { return slices.Clone(table[:]) }

// Set is a set of rules.
type Set uint64

// Has reports whether a rule is in the set.
func (s Set) Has(r Rule) bool { return s>>r&1 != 0 }

// Parse returns the set of the rules with the given ids, or an error that names an unknown id and
// those that there are.
func Parse(ids []string) (Set, error) {
	var s Set
	for _, id := range ids {
		r := slices.IndexFunc(table[:], func(x Info) bool { return x.ID == id })
		if r < 0 {
			return 0, fmt.Errorf("unknown rule %q: want one of %s", id, strings.Join(IDs(), ", "))
		}
		s |= 1 << r
	}
	return s, nil
}

// IDs returns the ids of all rules in order.
func IDs() []string {
	ids := make([]string, Count)
	for i := range table {
		ids[i] = table[i].ID
	}
	return ids
}
