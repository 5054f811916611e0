package functional_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/catalogue/reference"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// maxThreads bounds the threads of one tested launch; configurations beyond are
// left to WARPTUNE_FULL=1, which runs every compile variant.
const maxThreads = 1 << 14

// Every built-in kernel, several configurations each, from the prebuilt PTX.
func TestPrebuiltEqualsReference(t *testing.T) {
	testAll(t, compile.Prebuilt{}, 6, true)
}

// The same from the source through clang, where it is installed.
func TestClangEqualsReference(t *testing.T) {
	for _, clang := range needClangs(t) {
		testAll(t, clang, 2, false)
	}
}

// The same through nvcc, where it is installed.
func TestNVCCEqualsReference(t *testing.T) {
	testAll(t, needDriver(t, compile.NewNVCC("", sandbox.DefaultLimits())), 2, false)
}

func needClang(t *testing.T) compile.Driver {
	t.Helper()
	return needDriver(t, compile.NewClang("", sandbox.DefaultLimits()))
}

// needClangs is clang as it is, and in nvcc's place.
func needClangs(t *testing.T) []compile.Driver {
	t.Helper()
	return []compile.Driver{needClang(t), needDriver(t, compile.NewClangAsNVCC(sandbox.DefaultLimits()))}
}

// needDriver skips a test where the compiler is not installed.
func needDriver(t *testing.T, driver compile.Driver) compile.Driver {
	t.Helper()
	_, err := driver.Identify(context.Background())
	var u *compile.UnavailableError
	if errors.As(err, &u) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return driver
}

func testAll(t *testing.T, driver compile.Driver, perKernel int, cover bool) {
	for _, k := range catalogue.All() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			def, err := k.Definition()
			if err != nil {
				t.Fatal(err)
			}
			configs := choose(t, def, k.Name, perKernel, cover)
			if len(configs) < 2 {
				t.Fatalf("only %d configurations to test", len(configs))
			}
			for _, cfg := range configs {
				t.Run(cfg.String(), func(t *testing.T) { testConfig(t, driver, def, k.Name, cfg) })
			}
		})
	}
}

// choose takes compile variants in a fixed random order until there are n, and if
// cover until every value that small launches allow of every macro has occurred.
func choose(t *testing.T, def *kernel.Definition, name string, n int, cover bool) []search.Config {
	t.Helper()
	space, err := def.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	full := os.Getenv("WARPTUNE_FULL") != ""
	rng := rand.New(rand.NewPCG(1, uint64(len(name))))
	var chosen []search.Config
	seen, variants := map[call.Macro]bool{}, map[string]bool{}
	for _, i := range rng.Perm(int(space.Size())) {
		cfg := space.At(int64(i))
		launch, err := def.Launch(cfg, problem(t, name, cfg))
		if err != nil {
			t.Fatal(err)
		}
		fresh := slices.ContainsFunc(launch.Compile.Macros, func(m call.Macro) bool { return !seen[m] })
		wanted := full || (len(chosen) < n || cover && fresh) && threads(launch) <= maxThreads
		if !wanted || variants[launch.Compile.Key] {
			continue
		}
		for _, m := range launch.Compile.Macros {
			seen[m] = true
		}
		variants[launch.Compile.Key] = true
		chosen = append(chosen, cfg)
	}
	return chosen
}

func threads(l *call.Launch) int64 {
	n := int64(1)
	for d := range l.Grid {
		n *= l.Grid[d] * l.Block[d]
	}
	return n
}

func params(cfg search.Config) map[string]int64 {
	p := map[string]int64{}
	for i, v := range cfg.Values {
		p[cfg.Names[i]] = v.I
	}
	return p
}

func problem(t *testing.T, name string, cfg search.Config) []int64 {
	t.Helper()
	size, err := reference.Problem(name, params(cfg))
	if err != nil {
		t.Fatal(err)
	}
	return size
}

func testConfig(t *testing.T, driver compile.Driver, def *kernel.Definition, name string, cfg search.Config) {
	size := problem(t, name, cfg)
	launch, err := def.Launch(cfg, size)
	if err != nil {
		t.Fatal(err)
	}
	res, err := driver.Compile(context.Background(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
	if err != nil {
		t.Fatal(err)
	}
	before := contents(launch)
	after, err := run(launch, res.PTX, before)
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference.Expect(reference.Launch{Kernel: name, Problem: size, Params: params(cfg), Buffers: before})
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range slices.Sorted(maps.Keys(want)) {
		if err := want[out].Compare(after[out]); err != nil {
			t.Errorf("%s, problem %v: %s: %v", res.Compiler, size, out, err)
		}
	}
	for _, a := range launch.Args {
		if _, checked := want[a.Name]; !checked && !a.Scalar && a.Access != call.ReadOnly {
			t.Errorf("the reference says nothing of output %s", a.Name)
		}
		if a.Access == call.ReadOnly && !a.Scalar && !slices.Equal(before[a.Name], after[a.Name]) {
			t.Errorf("input %s was written", a.Name)
		}
	}
}

// run executes the whole grid, CTA after CTA, and returns the buffers.
func run(launch *call.Launch, text []byte, before map[string][]byte) (map[string][]byte, error) {
	tree, err := ptx.Parse("kernel.ptx", text)
	if err != nil {
		return nil, err
	}
	module, err := lower.Build(tree)
	if err != nil {
		return nil, err
	}
	k, err := module.Kernel(launch.KernelName)
	if err != nil {
		return nil, err
	}
	program, err := exec.Compile(k, exec.Full)
	if err != nil {
		return nil, err
	}
	mem := memory.New(0)
	bound, err := bind(mem, k, launch, before)
	if err != nil {
		return nil, err
	}
	l := exec.Launch{Grid: dim(launch.Grid), CTA: dim(launch.Block), DynamicShared: launch.DynamicShared, Params: bound}
	runner, opt := exec.NewRunner(program), allChecks()
	for cta := range l.Grid.Count() {
		if err := runner.Run(l, mem, cta, opt, nil); err != nil {
			return nil, fmt.Errorf("CTA %d: %w", cta, err)
		}
	}
	after := map[string][]byte{}
	for _, a := range launch.Args {
		if !a.Scalar {
			if after[a.Name], err = mem.ReadBuffer(a.Name); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// bind allocates and fills the buffers and lays out the parameters.
func bind(mem *memory.Device, k *ir.Kernel, launch *call.Launch, before map[string][]byte) ([]byte, error) {
	if err := mem.LoadModule(k); err != nil {
		return nil, err
	}
	for _, c := range launch.Constants {
		if err := mem.SetVar(memory.Buffer{Name: c.Name, Elem: elem(c.Type), Count: c.Count, Fill: memory.Bytes(before[c.Name])}); err != nil {
			return nil, err
		}
	}
	var args []memory.Arg
	for i, a := range launch.Args {
		if a.Scalar {
			args = append(args, memory.Arg{Bytes: scalar(a.Bits, k.Params[i].Size)})
			continue
		}
		if _, err := mem.Alloc(memory.Buffer{Name: a.Name, Elem: elem(a.Type), Count: a.Count, Fill: memory.Bytes(before[a.Name])}); err != nil {
			return nil, err
		}
		args = append(args, memory.Arg{Buffer: a.Name})
	}
	return mem.BindParams(k, args)
}

func dim(d [3]int64) exec.Dim3 { return exec.Dim3{X: int(d[0]), Y: int(d[1]), Z: int(d[2])} }

func scalar(bits uint64, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(bits >> (8 * i))
	}
	return b
}
