// Command measure writes what is needed to time configurations on a GPU: their
// PTX, and one job a line with launch and arguments. measure.py beside it
// assembles and times them on the machine that has the GPU, and writes the
// records that "warptune fidelity" reads.
//
//	go run ./deploy/calibrate/measure -o jobs
//	python3 deploy/calibrate/measure/measure.py jobs h200.jsonl
//
// The kernels are the built-in ones at the sizes below, or with -kernels those
// defined in a directory, each at its own size; their PTX is then part of what
// a record needs:
//
//	go run ./deploy/calibrate/measure -kernels mine -compiler nvcc -o jobs
//	python3 deploy/calibrate/measure/measure.py jobs mine.jsonl
//	warptune fidelity --arch h200 --kernels mine --ptx-dir jobs/ptx --timings mine.jsonl
package main

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// sizes are the problem sizes measured: for the kernels of the large H200 data
// set other sizes than it has, so that the records are of configurations that
// no model was looked at with. nil is the definition's own size.
var sizes = map[string][][]int64{
	"blur": {{4096, 4096}}, "compute_bound": {{1048576, 64}}, "const_filter": {{4194304}}, "copy": {{16777216}},
	"copy_strided": {{16777216}}, "fat_threads": {{262144, 64}}, "histogram": {nil}, "laplace_2d": {{4096}},
	"median_1d": {nil}, "moving_average": {nil, {4194304, 32}}, "nbody": {{16384}}, "prefix_sum": {nil},
	"random_gather": {{4194304, 16777216}}, "reduce": {{16777216}}, "reduce_atomic": {nil}, "sgemm": {{1024}, {4096}},
	"stencil_1d": {{8388608}}, "table_lookup": {nil}, "transpose_naive": {{4096}}, "transpose_tiled": {{4096}},
}

// fixed are parameters that belong to the problem: configurations that differ
// in them do not compete.
var fixed = []string{"RADIUS", "WORK", "TAPS", "DIVERGENT", "STRIDE", "R", "WINDOW"}

// argument is an argument as measure.py and measure.cu take it.
type argument struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Scalar   bool    `json:"scalar"`
	Bits     uint64  `json:"bits"`
	Count    int64   `json:"count"` // elements
	Random   bool    `json:"random"`
	Value    float64 `json:"value"`
	Constant bool    `json:"constant"` // fills the __constant__ variable of that name
	Data     string  `json:"data"`     // file of its elements, of a Generator; else ""
}

// job is one configuration.
type job struct {
	Kernel       string                  `json:"kernel"`
	Entry        string                  `json:"entry"`
	Group        string                  `json:"group"`
	Problem      []int64                 `json:"problem_size"`
	Params       map[string]search.Value `json:"params"`
	PTX          string                  `json:"ptx"`
	Block        [3]int64                `json:"block"`
	Grid         [3]int64                `json:"grid"`
	DynamicSmem  int                     `json:"dynamic_smem"`
	MaxRegisters int                     `json:"max_registers"`
	CarveOut     int                     `json:"carveout"`
	Arguments    []argument              `json:"arguments"`
}

func main() {
	var m measurement
	flag.StringVar(&m.out, "o", "jobs", "directory to write")
	flag.IntVar(&m.most, "most", 60, "configurations of a kernel and problem size, drawn by a fixed seed")
	flag.StringVar(&m.kernels, "kernels", "", "directory of kernel definitions NAME.json; default: the built-in kernels")
	driver := flag.String("compiler", "", "compile driver: prebuilt, nvcc or clang; default: the first that works")
	flag.Parse()
	if err := m.run(*driver); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// measurement is what one run of the command writes.
type measurement struct {
	out      string
	most     int
	kernels  string
	compiler *compile.Compiler
	jobs     *json.Encoder
	rng      *rand.Rand
	files    sync.Mutex // one writer of a generated file at a time
}

func (m *measurement) run(driver string) (err error) {
	if m.compiler, err = compile.New(compile.Options{Compiler: driver}); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(m.out, "ptx"), 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(m.out, "jobs.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	m.jobs, m.rng = json.NewEncoder(f), rand.New(rand.NewPCG(5, 5))
	definitions, err := m.definitions()
	if err != nil {
		return err
	}
	for _, def := range definitions {
		for _, size := range problems(def, m.kernels == "") {
			if err := m.kernelJobs(def, size); err != nil {
				return fmt.Errorf("%s: %w", def.Name, err)
			}
		}
	}
	return f.Close()
}

// definitions are the kernels to measure, by name.
func (m *measurement) definitions() (all []*kernel.Definition, err error) {
	if m.kernels == "" {
		builtIn, err := catalogue.Definitions()
		if err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(sizes)) {
			all = append(all, builtIn[name])
		}
		return all, nil
	}
	files, err := filepath.Glob(filepath.Join(m.kernels, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no kernel definition NAME.json in %s (%v)", m.kernels, err)
	}
	for _, file := range files {
		def, _, err := kernel.Load(file)
		if err != nil {
			return nil, err
		}
		all = append(all, def)
	}
	return all, nil
}

// problems are the sizes that a kernel is measured at.
func problems(def *kernel.Definition, builtIn bool) [][]int64 {
	if builtIn {
		return sizes[def.Name]
	}
	return [][]int64{nil}
}

// kernelJobs writes the jobs of one kernel at one problem size.
func (m *measurement) kernelJobs(def *kernel.Definition, size []int64) error {
	space, err := def.Space(size, nil)
	if err != nil {
		return err
	}
	picked := m.rng.Perm(int(space.Size()))
	picked = picked[:min(len(picked), m.most)]
	slices.Sort(picked)
	jobs := make([]*job, len(picked))
	var compiling errgroup.Group
	compiling.SetLimit(runtime.NumCPU())
	for n, i := range picked {
		compiling.Go(func() (err error) {
			jobs[n], err = m.job(def, space.At(int64(i)), size)
			return err
		})
	}
	if err := compiling.Wait(); err != nil {
		return err
	}
	for _, j := range jobs {
		if err := m.jobs.Encode(j); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) job(def *kernel.Definition, cfg search.Config, size []int64) (*job, error) {
	l, err := def.Launch(cfg, size)
	if err != nil {
		return nil, err
	}
	code, err := m.compiler.Compile(context.Background(), compile.Request{Compile: l.Compile, Target: "sm_90"})
	if err != nil {
		return nil, err
	}
	if size == nil {
		size = def.Problem
	}
	j := &job{
		Kernel: def.Name, Problem: size, Params: map[string]search.Value{}, PTX: def.Name + "-" + code.Digest[:12],
		Block: l.Block, Grid: l.Grid, DynamicSmem: l.DynamicShared, MaxRegisters: l.MaxRegisters, CarveOut: l.CarveOut,
	}
	j.Group = fmt.Sprint(def.Name, " ", size)
	for i, n := range cfg.Names {
		j.Params[n] = cfg.Values[i]
		if slices.Contains(fixed, n) {
			j.Group += " " + n + "=" + cfg.Values[i].String()
		}
	}
	e, err := entryOf(code.PTX, cmp.Or(code.Entry, l.KernelName))
	if err != nil {
		return nil, err
	}
	j.Entry = e.name
	args := passed(l, e.parameters)
	for i, a := range slices.Concat(args, l.Constants) {
		converted, err := m.convert(def.Name, a, i >= len(args))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		j.Arguments = append(j.Arguments, converted)
	}
	return j, os.WriteFile(filepath.Join(m.out, "ptx", j.PTX+".ptx"), code.PTX, 0o644)
}

// entry is a kernel of a PTX text: its name there, and how many parameters it has.
type entry struct {
	name       string
	parameters int
}

var entries = regexp.MustCompile(`\.entry\s+(\w+)\s*\(([^)]*)\)`)

// entryOf finds the kernel that a name stands for, also where a compiler has mangled it
// (Itanium C++ ABI: _Z, the length of the name and the name, where it is in no namespace).
func entryOf(text []byte, name string) (entry, error) {
	mangled := fmt.Sprintf("_Z%d%s", len(name), name)
	var found []entry
	for _, m := range entries.FindAllSubmatch(text, -1) {
		e := entry{string(m[1]), strings.Count(string(m[2]), ".param")}
		if e.name == name {
			return e, nil
		}
		if strings.HasPrefix(e.name, mangled) {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return entry{}, fmt.Errorf("the PTX has %d kernels that are %s", len(found), name)
	}
	return found[0], nil
}

// passed is what a kernel of so many parameters is called with: a launch's arguments and,
// where it has parameters for those too, buffers in the place of its constants, as
// the simulator takes them.
func passed(l *call.Launch, parameters int) []call.Arg {
	if len(l.Constants) == 0 || parameters != len(l.Args)+len(l.Constants) {
		return l.Args
	}
	all := slices.Clone(l.Args)
	for _, c := range l.Constants {
		all = slices.Insert(all, min(c.Position, len(all)), c)
	}
	return all
}

func (m *measurement) convert(kernelName string, a call.Arg, constant bool) (argument, error) {
	out := argument{
		Name: a.Name, Type: strings.ToLower(a.Type.String()), Scalar: a.Scalar, Bits: a.Bits, Count: a.Count * int64(max(a.Lanes, 1)),
		Random: a.Fill.Kind == call.FillRandom, Value: a.Fill.Value, Constant: constant,
	}
	if a.Fill.Kind != call.FillGenerator || a.Scalar {
		return out, nil
	}
	out.Data = fmt.Sprintf("%s-%s.bin", kernelName, a.Name)
	data, err := generated(a, out.Count)
	if err != nil {
		return out, err
	}
	m.files.Lock()
	defer m.files.Unlock()
	return out, os.WriteFile(filepath.Join(m.out, out.Data), data, 0o644)
}

// generated is what a Generator fills a buffer with, as the GPU holds it.
func generated(a call.Arg, count int64) ([]byte, error) {
	f, err := a.Fill.Generator()
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, count*int64(a.Type.Bytes()))
	for i := range count {
		v, err := f(i)
		if err != nil {
			return nil, err
		}
		switch a.Type {
		case call.Uint8:
			data = append(data, uint8(int64(v)))
		case call.Int32, call.Uint32:
			data = binary.LittleEndian.AppendUint32(data, uint32(int64(v)))
		case call.Int64, call.Uint64:
			data = binary.LittleEndian.AppendUint64(data, uint64(int64(v)))
		case call.Float:
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		case call.Double:
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		default:
			return nil, fmt.Errorf("elements of type %s cannot be generated", a.Type)
		}
	}
	return data, nil
}
