// Package tuner is the domain of a sweep: what is tuned (Spec), the trials it
// is made of, what came out of each (Outcome), and the ledger that moves them
// through their states. It is pure: no clock, file, network or goroutine; time
// is an argument.
//
// It does not evaluate configurations (a worker's Evaluator does), does not
// store (package store) and does not speak a protocol (package rpc).
package tuner

import "github.com/warptune/warptune/search"

// Spec is what a user submits: one kernel, one architecture, one problem size.
type Spec struct {
	Kernel  string // kernel name, e.g. "transpose_tiled"
	Bundle  string // digest of the kernel bundle: definition, sources, prebuilt PTX
	Arch    string // descriptor name
	Problem []int64
	// Set restricts parameters to the values given, as text: NAME -> values.
	Set      map[string][]string
	Strategy string
	Budget   int64 // evaluations, 0: until the strategy is done
	Seed     uint64
	Level    string // "cycle" or "model"
	Compiler string // "", "prebuilt", "nvcc", "clang": see package kernel
	// ArchDigest and Engine pin what may answer: the descriptor's digest and
	// the simulator's version. A worker that has others is refused.
	ArchDigest string
	Engine     string
}

// Validity is the kind of an outcome, the six of the T4 format. They belong to
// the configuration and are never retried. The zero value is invalid.
type Validity uint8

// Validities.
const (
	ValidityUnknown Validity = iota
	Correct
	Constraints
	Compile
	Runtime
	Timeout
	Correctness
)

// Outcome is what evaluating one configuration gave.
type Outcome struct {
	Validity Validity
	TimeUS   float64 // predicted time, microseconds; 0 unless Correct
	Message  string  // why it is not Correct, one line or a compiler's output
	Compiler string  // which compiler made the PTX, e.g. "nvrtc 13.0 (prebuilt)"
	Digest   string  // of (PTX, launch, arguments, descriptor, engine, level): the reuse key

	Registers  int
	SpillBytes int
	Shared     int     // bytes per CTA, static and dynamic
	CarveOut   int     // bytes
	Occupancy  float64 // theoretical, 0 to 1
	Limiter    string  // what limits occupancy: registers, shared, warps, ctas
	Bound      string  // what bounds the time, e.g. "dram"
	// Metrics are simulated counters under Nsight Compute's names.
	Metrics map[string]float64
}

// Question is what a worker is asked to evaluate: one configuration of a sweep.
type Question struct {
	Spec   Spec
	Seq    int64 // the trial's number in its sweep
	Index  int64 // the configuration's index in the space
	Config search.Config
}
