// Command measure writes what is needed to time configurations of the built-in
// kernels on a GPU: their PTX, and one job a line with launch and arguments.
// measure.py beside it assembles and times them on the machine that has the
// GPU, and writes the records that "warptune fidelity" reads.
//
//	go run ./deploy/calibrate/measure -o jobs
//	python3 deploy/calibrate/measure/measure.py jobs h200.jsonl
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
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
	out := flag.String("o", "jobs", "directory to write")
	most := flag.Int("most", 60, "configurations of a kernel and problem size, drawn by a fixed seed")
	flag.Parse()
	if err := run(*out, *most); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func run(out string, most int) error {
	compiler, err := compile.New(compile.Options{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(out, "ptx"), 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, "jobs.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	enc := json.NewEncoder(f)
	rng := rand.New(rand.NewPCG(5, 5))
	names := catalogue.Names()
	slices.Sort(names)
	for _, name := range names {
		for _, size := range sizes[name] {
			if err := kernelJobs(enc, compiler, out, name, size, most, rng); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return f.Close()
}

// kernelJobs writes the jobs of one kernel at one problem size.
func kernelJobs(enc *json.Encoder, compiler *compile.Compiler, out, name string, size []int64, most int, rng *rand.Rand) error {
	k, err := catalogue.Open(name)
	if err != nil {
		return err
	}
	def, err := k.Definition()
	if err != nil {
		return err
	}
	space, err := def.Space(size, nil)
	if err != nil {
		return err
	}
	picked := rng.Perm(int(space.Size()))
	picked = picked[:min(len(picked), most)]
	slices.Sort(picked)
	for _, i := range picked {
		j, err := makeJob(def, compiler, out, space.At(int64(i)), size)
		if err != nil {
			return err
		}
		if err := enc.Encode(j); err != nil {
			return err
		}
	}
	return nil
}

func makeJob(def *kernel.Definition, compiler *compile.Compiler, out string, cfg search.Config, size []int64) (*job, error) {
	l, err := def.Launch(cfg, size)
	if err != nil {
		return nil, err
	}
	ptx, err := compiler.Compile(context.Background(), compile.Request{Compile: l.Compile, Target: "sm_90"})
	if err != nil {
		return nil, err
	}
	if size == nil {
		size = def.Problem
	}
	j := &job{
		Kernel: def.Name, Entry: l.KernelName, Problem: size, Params: map[string]search.Value{}, PTX: def.Name + "-" + ptx.Digest[:12],
		Block: l.Block, Grid: l.Grid, DynamicSmem: l.DynamicShared, MaxRegisters: l.MaxRegisters, CarveOut: l.CarveOut,
	}
	j.Group = fmt.Sprint(def.Name, " ", size)
	for i, n := range cfg.Names {
		j.Params[n] = cfg.Values[i]
		if slices.Contains(fixed, n) {
			j.Group += " " + n + "=" + cfg.Values[i].String()
		}
	}
	for _, a := range l.Args {
		j.Arguments = append(j.Arguments, convert(a, false))
	}
	for _, a := range l.Constants {
		j.Arguments = append(j.Arguments, convert(a, true))
	}
	return j, os.WriteFile(filepath.Join(out, "ptx", j.PTX+".ptx"), ptx.PTX, 0o644)
}

func convert(a kernel.Arg, constant bool) argument {
	return argument{
		Name: a.Name, Type: strings.ToLower(a.Type.String()), Scalar: a.Scalar, Bits: a.Bits, Count: a.Count * int64(max(a.Lanes, 1)),
		Random: a.Fill.Kind == kernel.FillRandom, Value: a.Fill.Value, Constant: constant,
	}
}
