// Package tunertest has what tests and benchmarks of the sweep system put in
// place of kernels and simulators: a space of any size, a planner, and an
// oracle that knows every outcome. It is used by tests only.
package tunertest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Bundle is the content of a pretended kernel bundle: it says what space there
// is and which strategy to search it with.
type Bundle struct {
	Size int64 `json:"size"`
	// Batch makes the strategy adaptive: it asks Batch questions at a time and
	// wants all answers before the next. 0: it asks for all, in order.
	Batch int64 `json:"batch,omitempty"`
	// Growing gives an adaptive strategy the window that grows.
	Growing bool `json:"growing,omitempty"`
	// Level and Within are those of Spec; "": cycle.
	Level  string   `json:"level,omitempty"`
	Within *float64 `json:"within,omitempty"`
	// Salt makes it another kernel, whose configurations take other times.
	Salt uint32 `json:"salt,omitempty"`
}

// Outcome returns what comes out of a configuration at a level.
func (b Bundle) Outcome(level string, index int64) tuner.Outcome {
	return OracleAt(level, index+int64(b.Salt)<<28)
}

// Content returns the bundle as stored, and its digest.
func (b Bundle) Content() (content []byte, digest string) {
	content, err := json.Marshal(b)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:])
}

// Versions that specs and workers of tests name.
const (
	Engine     = "engine-1"
	Arch       = "h200"
	ArchDigest = "descriptor-1"
)

// Spec returns a spec that the planner and the oracle agree with.
func (b Bundle) Spec(kernel string) tuner.Spec {
	_, digest := b.Content()
	return tuner.Spec{
		Kernel: kernel, Bundle: digest, Arch: Arch, Problem: []int64{b.Size}, Strategy: "exhaustive", Level: cmp.Or(b.Level, "cycle"),
		ArchDigest: ArchDigest, Engine: Engine, Within: b.Within,
	}
}

// Worker returns a worker that suits Spec.
func Worker(id string, epoch uint64, slots int) tuner.Worker {
	return tuner.Worker{ID: id, Epoch: epoch, Slots: slots, Engine: Engine, Archs: map[string]string{Arch: ArchDigest}}
}

// Space is a space of two parameters, of 1000 and as many as needed values.
type Space int64

var names = []string{"HIGH", "LOW"}

// Size returns the number of configurations.
func (s Space) Size() int64 { return int64(s) }

// At returns configuration i.
func (s Space) At(i int64) search.Config {
	return search.Config{Names: names, Values: []search.Value{
		{Kind: search.Int, I: i / 1000}, {Kind: search.Int, I: i % 1000},
	}}
}

// Planner plans what Bundle says.
type Planner struct{}

// Plan is in tuner.Planner.
func (Planner) Plan(_ context.Context, spec tuner.Spec, files tuner.Files) (tuner.Plan, error) {
	var b Bundle
	if err := json.Unmarshal(files.Bundle, &b); err != nil {
		return tuner.Plan{}, fmt.Errorf("read test bundle: %w", err)
	}
	plan := tuner.Plan{Space: Space(b.Size), Names: names, Window: tuner.WideWindow, Strategy: &InOrder{Size: b.Size}}
	if b.Batch > 0 {
		plan.Window, plan.Strategy = 4*b.Batch, &Adaptive{Size: b.Size, Batch: b.Batch}
		if b.Growing {
			plan.Window = 0
		}
	}
	return plan, nil
}

// InOrder asks for every configuration in order.
type InOrder struct{ Size, next int64 }

// Ask is in search.Strategy.
func (s *InOrder) Ask(n int) []int64 {
	var asked []int64
	for ; n > 0 && s.next < s.Size; n-- {
		asked = append(asked, s.next)
		s.next++
	}
	return asked
}

// Tell is in search.Strategy.
func (s *InOrder) Tell(...search.Observation) {}

// Done is in search.Strategy.
func (s *InOrder) Done() bool { return s.next >= s.Size }

// Adaptive asks for configurations in an order that depends on everything it
// was told and when: any difference in the order of tells shows.
type Adaptive struct {
	Size, Batch int64

	state uint64
	asked map[int64]bool
	open  int64
}

// Ask is in search.Strategy.
func (s *Adaptive) Ask(n int) []int64 {
	if s.asked == nil {
		s.asked = map[int64]bool{}
	}
	var asked []int64
	for ; n > 0 && s.open < s.Batch && !s.Done(); n-- {
		i := int64(s.state % uint64(s.Size))
		for s.asked[i] {
			i = (i + 1) % s.Size
		}
		s.asked[i] = true
		s.open++
		asked = append(asked, i)
	}
	return asked
}

// Tell is in search.Strategy.
func (s *Adaptive) Tell(obs ...search.Observation) {
	for _, o := range obs {
		s.state = hash(s.state, uint64(o.Index), uint64(o.Objective*1000))
		s.open--
	}
}

// Done is in search.Strategy.
func (s *Adaptive) Done() bool { return int64(len(s.asked)) == s.Size }

// Oracle returns the outcome of a configuration of a test's space: mostly
// correct with a time drawn from its index, else one of the failures.
func Oracle(index int64) tuner.Outcome { return OracleAt("cycle", index) }

// OracleAt is the Oracle of a level: what fails at one fails at both, the times
// of "model" are off by a quarter, and both know the same floor below either.
func OracleAt(level string, index int64) tuner.Outcome {
	h := hash(uint64(index))
	switch h % 16 {
	case 0:
		return tuner.Outcome{Validity: tuner.Compile, Message: "error: too many registers"}
	case 1:
		return tuner.Outcome{Validity: tuner.Runtime, Message: fmt.Sprintf("address %#x is out of bounds", h>>40)}
	}
	r := hash(uint64(index), 1)
	time := float64(h%1_000_000)/64 + 1
	model := time * (0.75 + float64(r%1024)/2048)
	floor := min(model, time) * (0.4 + float64(r>>32%512)/1024)
	if level == "model" {
		time = model
	}
	return tuner.Outcome{
		Validity: tuner.Correct, TimeUS: time, FloorUS: floor, Compiler: "oracle 1", Digest: fmt.Sprintf("%064x", h),
		Registers: int(h % 256), Shared: int(h % 49152), CarveOut: 65536, Occupancy: float64(h%65) / 64, Limiter: "registers", Bound: "dram",
		Metrics: map[string]float64{
			"sm__cycles_elapsed.avg": float64(h % 1e7), "dram__bytes_read.sum": float64(h % 1e9), "launch__registers_per_thread": float64(h % 256),
			"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum": float64(h % 4096), "smsp__inst_executed.sum": float64(h % 1e6),
		},
		Checked: tuner.Checked{
			CTAs: int64(h%9 + 1), Full: int64(h % 2), Of: int64(h%65536 + 10), For: "bounds", ForFull: "values", Compared: int64(h % 4096), Outputs: "agree with A=0,B=0",
		},
	}
}

// Evaluate answers what the Oracle knows of the bundle's kernel.
func Evaluate(_ context.Context, q tuner.Question, content []byte) (tuner.Outcome, error) {
	if want := q.Config.Values[0].I*1000 + q.Config.Values[1].I; want != q.Index {
		return tuner.Outcome{}, fmt.Errorf("configuration %v has index %d, asked as %d", q.Config, want, q.Index)
	}
	var b Bundle
	if bytes.Contains(content, []byte(`"salt"`)) {
		if err := json.Unmarshal(content, &b); err != nil {
			return tuner.Outcome{}, fmt.Errorf("read test bundle: %w", err)
		}
	}
	return b.Outcome(q.Spec.Level, q.Index), nil
}

// Best returns the index of the best configuration of a space.
func Best(size int64) int64 { return Bundle{Size: size}.Best() }

// Best returns the index of the best configuration.
func (b Bundle) Best() int64 {
	best := tuner.Result{Index: -1}
	for i := range b.Size {
		r := tuner.Result{Index: i, Outcome: b.Outcome("cycle", i)}
		if best.Index < 0 || r.Less(&best) {
			best = r
		}
	}
	return best.Index
}

// hash mixes numbers (FNV-1a of their bytes, then a finaliser).
func hash(parts ...uint64) uint64 {
	h := uint64(14695981039346656037)
	var b [8]byte
	for _, p := range parts {
		binary.LittleEndian.PutUint64(b[:], p)
		for _, c := range b {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}
