package exec

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/ir/unroll"
)

// hopperLaunches names a folder with launch records of kernels for sm_90a (launches.jsonl.gz) and their
// PTX (ptx/NAME.ptx). Tests that read it are left out without.
const hopperLaunches = "WARPTUNE_HOPPER"

type launchArg struct {
	Name        string
	Type        string
	Vector      bool
	Count       int64
	Value       float64
	Min, Max    *float64
	Zero        bool `json:"-"` // it is written
	Tensormap   bool
	Element     string
	Shape       []uint32
	Strides     []uint64
	Box         []int
	Swizzle     string
	Oobfill     string
	Base        *launchArg
	ElemStrides []int `json:"element_strides"`
	Interleave  string
	L2promotion string
}

type launchRecord struct {
	Kernel, Group, PTX, Entry string
	ProblemSize               []int `json:"problem_size"`
	Params                    map[string]any
	Block, Grid, Cluster      [3]int
	DynamicSmem               int `json:"dynamic_smem"`
	Args                      []launchArg
	Scratch                   []int
	TrailingParams            []string `json:"trailing_params"`
	Error                     string
}

// hopperRecords reads the launch records.
func hopperRecords(t testing.TB) []launchRecord {
	t.Helper()
	dir := os.Getenv(hopperLaunches)
	if dir == "" {
		t.Skip(hopperLaunches + " is not set")
	}
	f, err := os.Open(filepath.Join(dir, "launches.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list []launchRecord
	for s := bufio.NewReader(z); ; {
		line, err := s.ReadBytes('\n')
		if len(line) == 0 || err != nil {
			return list
		}
		var r launchRecord
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Error == "" {
			list = append(list, r)
		}
	}
}

func hopperKernel(t testing.TB, r *launchRecord) *ir.Kernel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv(hopperLaunches), "ptx", r.PTX+".ptx"))
	if err != nil {
		t.Fatal(err)
	}
	return sroa.Promote(unroll.Loops(buildKernel(t, r.PTX, text))) // as the engine does
}

var launchTypes = map[string]ir.Type{
	"half": ir.F16, "float": ir.F32, "fp32": ir.F32, "bfloat16": ir.BF16, "float8_e4m3fn": ir.E4M3,
	"i32": ir.S32, "int32": ir.S32, "i64": ir.S64, "int64": ir.S64,
}

// buffer is the buffer of an argument.
func (a *launchArg) buffer(t testing.TB, name string) memory.Buffer {
	e, ok := launchTypes[a.Type]
	if !ok {
		t.Fatalf("argument type %q", a.Type)
	}
	if a.Zero {
		return memory.Buffer{Name: name, Elem: e, Count: a.Count}
	}
	lo, hi := -1.0, 1.0
	if a.Min != nil {
		lo, hi = *a.Min, *a.Max+1
	}
	whole := !e.IsFloat() && e != ir.E4M3 && e != ir.BF16
	return memory.Buffer{Name: name, Elem: e, Count: a.Count, Fill: memory.Generated(func(i int64) float64 {
		v := lo + (hi-lo)*rand.New(rand.NewPCG(uint64(i), uint64(len(name)))).Float64()
		if whole {
			return math.Floor(v)
		}
		return v
	})}
}

// tensor is the map of an argument whose buffer lies at an address.
func (a *launchArg) tensor(t testing.TB, address uint64) []byte {
	e, ok := tensormap.ElemOf(launchTypes[a.Element])
	if !ok || a.Interleave != "none" {
		t.Fatalf("tensor map of %q", a.Element)
	}
	m := tensormap.Map{Address: address, Elem: e, Rank: len(a.Shape), ElementStrides: [5]int{1, 1, 1, 1, 1}, FillNaN: a.Oobfill != "zeros"}
	copy(m.Shape[:], a.Shape)
	copy(m.Strides[:], a.Strides)
	copy(m.Box[:], a.Box)
	fmt.Sscanf(a.Swizzle, "%dB", &m.Swizzle)
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	b := m.Encode()
	return b[:]
}

// hopperProblem is a launch as it was made, or with a smaller grid if grid is not zero.
func hopperProblem(t testing.TB, r *launchRecord) *problem {
	t.Helper()
	k := hopperKernel(t, r)
	p := &problem{kernel: k, mem: memory.New(0), size: r.ProblemSize}
	if err := p.mem.LoadModule(k); err != nil {
		t.Fatal(err)
	}
	var args []memory.Arg
	alloc := func(b memory.Buffer) uint64 {
		base, err := p.mem.Alloc(b)
		if err != nil {
			t.Fatal(err)
		}
		return base
	}
	for i := range r.Args {
		a := &r.Args[i]
		name := fmt.Sprintf("%d %s", i, a.Name)
		switch {
		case a.Tensormap:
			base := *a.Base
			base.Zero = a.Zero
			args = append(args, memory.Arg{Bytes: a.tensor(t, alloc(base.buffer(t, name)))})
		case a.Vector:
			alloc(a.buffer(t, name))
			args = append(args, memory.Arg{Buffer: name})
		default:
			args = append(args, memory.Arg{Elem: launchTypes[a.Type], Scalar: a.Value})
		}
	}
	ctas := int64(r.Grid[0]) * int64(r.Grid[1]) * int64(r.Grid[2])
	for i, name := range r.TrailingParams {
		alloc(memory.Buffer{Name: name, Elem: ir.B8, Count: max(1, ctas*int64(r.Scratch[i]))})
		args = append(args, memory.Arg{Buffer: name})
	}
	params, err := p.mem.BindParams(k, args)
	if err != nil {
		t.Fatal(r.PTX, err)
	}
	dim := func(v [3]int) Dim3 { return Dim3{max(v[0], 1), max(v[1], 1), max(v[2], 1)} }
	p.launch = Launch{Grid: dim(r.Grid), CTA: dim(r.Block), DynamicShared: r.DynamicSmem, Params: params}
	if dim(r.Cluster).Count() > 1 {
		p.launch.Cluster = dim(r.Cluster)
	}
	return p
}

// TestHopperSlices compiles and runs the slice of a CTA of measured launches, sampled and whole.
func TestHopperSlices(t *testing.T) {
	seen, failed := map[string]int{}, map[string]int{}
	for _, r := range hopperRecords(t) {
		if seen[r.Kernel]++; seen[r.Kernel] > 4 && os.Getenv("WARPTUNE_ALL") == "" {
			continue
		}
		p := hopperProblem(t, &r)
		prog, err := Compile(p.kernel, Slice)
		if err == nil {
			err = NewRunner(prog).Run(p.launch, p.mem, p.launch.Grid.Count()/2, Options{LoopSample: 2}, nil)
		}
		if err != nil {
			failed[r.Kernel]++
			t.Errorf("%s: %v", r.PTX, err)
		}
	}
	for k, n := range failed {
		t.Log(strings.Repeat("-", 3), k, n)
	}
}

// TestHopperCosts prints what the slices of a CTA cost and why loops are not sampled.
func TestHopperCosts(t *testing.T) {
	if os.Getenv("WARPTUNE_COSTS") == "" {
		t.Skip("only prints")
	}
	seen := map[string]int{}
	for _, r := range hopperRecords(t) {
		if seen[r.Kernel]++; seen[r.Kernel]%12 != 1 && os.Getenv("WARPTUNE_ALL") == "" {
			continue
		}
		p := hopperProblem(t, &r)
		prog, err := Compile(p.kernel, Slice)
		if err != nil {
			t.Error(err)
			continue
		}
		run := NewRunner(prog)
		line := fmt.Sprintf("%-30s", r.PTX)
		for _, sample := range []int{0, 2} {
			best := time.Duration(math.MaxInt64)
			for range 3 {
				p.mem.Reset()
				start := time.Now()
				if err := run.Run(p.launch, p.mem, p.launch.Grid.Count()/2, Options{LoopSample: sample}, nil); err != nil {
					t.Error(r.PTX, err)
				}
				best = min(best, time.Since(start))
			}
			line += fmt.Sprintf(" %8.2f ms %9d", best.Seconds()*1e3, run.Work())
		}
		for i := range prog.Loops {
			if l := &prog.Loops[i]; l.Obstacle != "" {
				line += "\n        block " + fmt.Sprint(l.Head, " of ", len(l.Blocks), " blocks: ", l.Obstacle[:min(150, len(l.Obstacle))])
			}
		}
		t.Log(line)
	}
}

// TestHopperFull compiles measured launches for Full mode.
func TestHopperFull(t *testing.T) {
	refused := map[string]int{}
	for _, r := range hopperRecords(t) {
		if _, err := Compile(hopperKernel(t, &r), Full); err != nil {
			text := err.Error()
			refused[text[:min(len(text), 80)]+" ... "+text[strings.LastIndex(text, ": "):]]++
		}
	}
	for text, n := range refused {
		t.Errorf("%d: %s", n, text)
	}
}
