package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
)

// MaxExtent bounds a grid dimension, as CUDA does (x: 2^31 - 1).
const MaxExtent = math.MaxInt32

// Axes are the names of the three dimensions.
var Axes = [3]string{"X", "Y", "Z"}

// Launch is one configuration at one problem size, ready for a compiler and
// the simulator.
type Launch struct {
	KernelName    string
	Grid, Block   [3]int64 // CTAs; threads
	Cluster       [3]int64 // CTAs; zeros: what the PTX requires, else none
	Cooperative   bool     // all CTAs are resident together; kernels that call grid_group::sync are without it, too
	DynamicShared int      // bytes per CTA
	MaxRegisters  int      // per thread, 0: no cap
	CarveOut      int      // -1: the driver's choice, else percent of the maximum
	Args          []Arg    // kernel parameters in order
	Constants     []Arg    // __constant__ variables to fill, by name
	Compile       Compile
	Recorded      bool // it is of a launch record, not of a definition's expressions
	Replicas      bool // lanes of one store that write to one word of shared memory write the same element, as Triton's do
	// Assembled is what an assembler made of the kernel, as a launch record has it; nil: nobody said.
	Assembled *Assembled
}

// Assembled is what an assembler made of a kernel for a target.
type Assembled struct {
	By         string `json:"by"`        // e.g. "ptxas of Triton 3.6.0"
	Target     string `json:"target"`    // e.g. "sm_90a"
	Registers  int    `json:"registers"` // a thread
	SpillBytes int    `json:"spill_bytes"`
}

// Compile is what a compiler is given for a configuration. Configurations with
// equal Key share their PTX.
type Compile struct {
	Language   Language
	SourceFile string   // name of the source relative to the definition; for PTX the expanded path
	Source     []byte   // its contents
	Missing    error    // why there is no Source; PTX made elsewhere needs none
	Macros     []Macro  // -D, in order; none for PTX
	Options    []string // CompilerOptions
	// Entry is the kernel to launch, as NVRTC takes names: k, ns::k, or k<float, TILE>,
	// in which macros count.
	Entry string
	// Fixed are the macros that the source must leave as they are: it would be another
	// configuration's otherwise.
	Fixed []string
	Files Files  // where #include "…" finds headers, relative to the definition
	Key   string // sha-256 over all of the above, hex
}

// Macro is one -D.
type Macro struct{ Name, Value string }

// MaxShared bounds dynamic shared memory in bytes; what a GPU has is for the
// simulator to say.
const MaxShared = 1 << 30

// Digest is the digest of all that the PTX depends on. JSON is canonical here:
// structs in order, map keys sorted.
func (c *Compile) Digest(headers map[string][]byte) string {
	text, err := json.Marshal(struct {
		Language string
		Source   []byte
		Headers  map[string][]byte
		Macros   []Macro
		Options  []string
		Entry    string
	}{c.Language.String(), c.Source, headers, c.Macros, c.Options, c.Entry})
	if err != nil {
		panic(err) // texts and bytes always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// SetCluster completes the cluster's size. One CTA is no cluster.
func (l *Launch) SetCluster() error {
	for i := range l.Cluster {
		l.Cluster[i] = max(l.Cluster[i], 1)
		if l.Grid[i]%l.Cluster[i] != 0 {
			return fmt.Errorf("cluster: a grid of %d CTAs in %s is not made of clusters of %d", l.Grid[i], Axes[i], l.Cluster[i])
		}
	}
	if l.Cluster == [3]int64{1, 1, 1} {
		l.Cluster = [3]int64{}
	}
	return nil
}

// MaxProblem bounds a number of a problem size, so that sizes computed from it
// are far from overflow.
const MaxProblem = 1 << 40
