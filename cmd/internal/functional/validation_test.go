package functional_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
	"github.com/warptune/warptune/tuner/record"
)

// Kernels that ran right on a GPU are called right: of every data set some configurations,
// WARPTUNE_CHECKED of each if that is set, a few CTAs in full under all checks.
func TestMeasuredKernelsAreCalledRight(t *testing.T) {
	each := 2
	if n, err := strconv.Atoi(os.Getenv("WARPTUNE_CHECKED")); err == nil {
		each = n
	}
	m, err := datasets.Load("../../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range m.Here() {
		if set.Files.Kernels == "" {
			continue
		}
		t.Run(set.Name, func(t *testing.T) {
			t.Parallel()
			files, done, err := ptxfiles.Open(set.Path(set.Files.PTX))
			if err != nil {
				t.Fatal(err)
			}
			defer done()
			for _, rec := range drawRecords(t, set, each) {
				t.Run(rec.PTX, func(t *testing.T) { checkRecord(t, set.Path(set.Files.Kernels), files, &rec) })
			}
		})
	}
}

// drawRecords are n records of a set with different PTX.
func drawRecords(t *testing.T, set *datasets.Set, n int) (drawn []record.Record) {
	t.Helper()
	f, err := os.Open(set.Path(set.Files.Timings))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	recs, _, err := record.Read(set.Name, f)
	if err != nil {
		t.Fatal(err)
	}
	const seed = 3
	seen := map[string]bool{}
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(recs)) {
		if r := &recs[i]; len(drawn) < n && !seen[r.PTX] && r.TimeUS != nil {
			seen[r.PTX] = true
			drawn = append(drawn, *r)
		}
	}
	return drawn
}

// checkedWork is the work that a CTA may take: what is beyond is given up.
const checkedWork = 3_000_000

// checkRecord executes the first, the last and some other CTAs of a record's launch, in one series.
func checkRecord(t *testing.T, kernels string, files fs.FS, rec *record.Record) {
	def, _, err := kernel.Load(filepath.Join(kernels, rec.Kernel+".json"))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := evaluate.Config(def, rec)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := def.Launch(cfg, rec.ProblemSize)
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(files, rec.PTX+".ptx")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := ptx.Parse(rec.PTX+".ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	module, err := lower.Build(tree)
	if err != nil {
		t.Fatal(err)
	}
	k, err := module.Kernel(launch.KernelName)
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.Compile(k, exec.Full)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.New(0)
	params, err := filled(mem, k, launch)
	if err != nil {
		t.Fatal(err)
	}
	l := exec.Launch{Grid: dim(launch.Grid), CTA: dim(launch.Block), DynamicShared: launch.DynamicShared, Params: params}
	runner, last := exec.NewRunner(program), l.Grid.Count()-1
	opt := allChecks()
	opt.WorkLimit = checkedWork
	for i, cta := range []int64{0, 1, last / 2, last/2 + 1, last} {
		if cta > last || i > 0 && last == 0 {
			continue
		}
		err := runner.Run(l, mem, cta, opt, nil)
		var found *fault.Fault
		if errors.As(err, &found) && found.Kind == fault.StepLimit {
			t.Log("given up after the work that is checked")
			continue
		}
		if err != nil {
			t.Errorf("%s of %s, %v, grid %v of %v: %v", cfg, rec.Kernel, rec.ProblemSize, l.Grid, l.CTA, err)
			return
		}
	}
}

// allChecks are the options with everything that is looked for, in a launch.
func allChecks() exec.Options {
	return exec.Options{Mode: exec.Full, Races: true, GlobalRaces: racecheck.New(0), Uninitialised: true}
}

// filled allocates and fills the buffers as the definition says, and lays out the parameters.
func filled(mem *memory.Device, k *ir.Kernel, launch *call.Launch) ([]byte, error) {
	if err := mem.LoadModule(k); err != nil {
		return nil, err
	}
	buffer := func(a *call.Arg) (memory.Buffer, error) {
		fill, err := fillOf(a)
		return memory.Buffer{Name: a.Name, Elem: anyElem[a.Type], Count: a.Count * int64(max(a.Lanes, 1)), Fill: fill}, err
	}
	for i := range launch.Constants {
		b, err := buffer(&launch.Constants[i])
		if err != nil {
			return nil, err
		}
		if err := mem.SetVar(b); err != nil {
			return nil, err
		}
	}
	var args []memory.Arg
	for i := range launch.Args {
		a := &launch.Args[i]
		if a.Scalar {
			args = append(args, memory.Arg{Bytes: scalar(a.Bits, k.Params[i].Size)})
			continue
		}
		b, err := buffer(a)
		if err != nil {
			return nil, err
		}
		if _, err := mem.Alloc(b); err != nil {
			return nil, err
		}
		args = append(args, memory.Arg{Buffer: a.Name})
	}
	return mem.BindParams(k, args)
}

var anyElem = map[call.Type]ir.Type{
	call.Bool: ir.U8, call.Int8: ir.S8, call.Uint8: ir.U8, call.Int16: ir.S16, call.Uint16: ir.U16,
	call.Int32: ir.S32, call.Uint32: ir.U32, call.Int64: ir.S64, call.Uint64: ir.U64,
	call.Half: ir.F16, call.Float: ir.F32, call.Double: ir.F64,
}

func fillOf(a *call.Arg) (memory.Fill, error) {
	switch a.Fill.Kind {
	case call.FillConstant:
		return memory.Constant(a.Fill.Value), nil
	case call.FillRandom:
		return memory.Random(a.Fill.Seed, a.Fill.Value), nil
	case call.FillGenerator:
		at, err := a.Fill.Generator()
		return memory.Generated(func(i int64) float64 {
			v, _ := at(i)
			return v
		}), err
	}
	return memory.Fill{}, fmt.Errorf("argument %s: fill of another kind", a.Name)
}
