package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/worker"
)

// liar is a coordinator that knows the outcome of everything.
type liar struct {
	grpc.ClientConnInterface
	outcome tuner.Outcome
}

func (l *liar) Invoke(_ context.Context, _ string, in, out any, _ ...grpc.CallOption) error {
	o := l.outcome.Clone()
	o.Digest = in.(*warptunev1.LookupRequest).GetDigests()[0]
	out.(*warptunev1.LookupResponse).Outcomes = []*warptunev1.Outcome{rpc.FromOutcome(&o)}
	return nil
}

// question is one of a built-in kernel, and its bundle.
func question(t *testing.T) (tuner.Question, []byte) {
	t.Helper()
	k, err := catalogue.Open("copy")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	bundle, digest, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	return tuner.Question{
		Spec:   tuner.Spec{Kernel: "copy", Bundle: digest, Arch: d.Name, ArchDigest: d.Digest, Problem: def.Problem, Level: "model", Compiler: "prebuilt"},
		Config: def.Default(),
	}, bundle
}

// What is known answers a question, but not one that is to confirm it.
func TestConfirmationsAreSimulated(t *testing.T) {
	q, bundle := question(t)
	const lie = 0.001
	e := NewEvaluator(worker.NewKnown(&liar{outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: lie}}))
	for _, again := range []bool{false, true} {
		q.Again = again
		o, err := e.Evaluate(t.Context(), q, bundle)
		if err != nil || o.Validity != tuner.Correct || (o.TimeUS == lie) == again {
			t.Errorf("to confirm: %v; the outcome is %s, %g µs (%v)", again, o.Validity, o.TimeUS, err)
		}
	}
}

// onlyCompiler makes a program the only nvcc: it gives what is prebuilt, whatever
// the configuration. The folder returned is where compiled PTX is remembered.
func onlyCompiler(t *testing.T, q *tuner.Question, bundle []byte) (cache string) {
	t.Helper()
	def, _, err := kernel.OpenBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := def.Launch(q.Config, q.Spec.Problem)
	if err != nil {
		t.Fatal(err)
	}
	ptx, err := compile.Prebuilt{}.Compile(t.Context(), compile.Request{Compile: launch.Compile})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "bin")
	program := "#!/bin/sh\ncase \"$1\" in\n--version) echo release 13.0, V13.0.88 ;;\n--list-gpu-arch) echo compute_90 ;;\n*) cat " + dir + "/ptx > ../out.ptx ;;\nesac\n"
	for name, text := range map[string]string{"nvcc": program, "ptx": string(ptx.PTX)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cache = t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", cache)
	return cache
}

// However long a compiler takes for configurations that are ahead, and whatever
// comes of it, is not for the one in hand to wait for and to answer for.
func TestNoCompilerRunsForWhatIsAhead(t *testing.T) {
	q, bundle := question(t)
	cache := onlyCompiler(t, &q, bundle)
	q.Spec.Compiler = "nvcc"
	next := search.Config{Names: q.Config.Names, Values: slices.Clone(q.Config.Values)}
	for i, name := range next.Names {
		if name == "ITEMS" {
			next.Values[i] = search.OfInt(2)
		}
	}
	if next.Equal(q.Config) {
		t.Fatal("the default has ITEMS=2")
	}
	q.Ahead = []search.Config{next}
	e := NewEvaluator(worker.NewKnown(&liar{outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: 1}}))
	for want, config := range []search.Config{q.Config, next} {
		q.Config = config
		if o, err := e.Evaluate(t.Context(), q, bundle); err != nil || o.Validity != tuner.Correct {
			t.Fatalf("%s: %v %s (%v)", config, o.Validity, o.Message, err)
		}
		if made, err := filepath.Glob(filepath.Join(cache, "warptune", "ptx", "*", "*.ptx")); err != nil || len(made) != want+1 {
			t.Errorf("%s: the compiler ran for %d configurations so far, want %d (%v)", config, len(made), want+1, err)
		}
	}
}

// A plan none of whose configurations can be launched says so, and has its space, as
// what is stored of it is read by that.
func TestSweepsCanBeLaunched(t *testing.T) {
	q, copies := question(t)
	def, _, err := kernel.Parse("k", []byte(`{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[64, 128]"}]},
		"KernelSpecification": {"Language": "OpenCL", "KernelName": "k", "KernelFile": "k.cl", "LocalSize": {"X": "B"}, "GlobalSize": {"X": 4}}}`),
		fstest.MapFS{"k.cl": {}})
	if err != nil {
		t.Fatal(err)
	}
	bundle, _, err := def.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	spec := q.Spec
	spec.Problem, spec.Set = nil, nil
	plan, err := (Planner{}).Plan(t.Context(), spec, tuner.Files{Bundle: bundle})
	if err != nil || plan.Space.Size() != 2 || plan.Refusal == nil || !strings.Contains(plan.Refusal.Error(), "OpenCL kernels cannot be simulated") {
		t.Errorf("refusal %v, %v", plan.Refusal, err)
	}
	if plan, err := (Planner{}).Plan(t.Context(), q.Spec, tuner.Files{Bundle: copies}); err != nil || plan.Refusal != nil {
		t.Errorf("refusal %v, %v", plan.Refusal, err)
	}
}

// A sweep names a compiler, and no program: neither does a coordinator take one
// that does, nor does a worker run what it names. Who tunes on one machine may.
func TestSweepsRunNoPrograms(t *testing.T) {
	q, bundle := question(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	program := filepath.Join(dir, "clang")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n>"+ran+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, choice := range []string{program, "./clang", "../" + filepath.Base(dir) + "/clang", "clang-and-more", "nvcc; touch x", "clang++-19\n", "-nvcc"} {
		spec := q.Spec
		spec.Compiler = choice
		if _, err := (Planner{}).Plan(t.Context(), spec, tuner.Files{Bundle: bundle}); tuner.KindOf(err) != tuner.Invalid || !strings.Contains(err.Error(), "compiler") {
			t.Errorf("a sweep with the compiler %q is answered %v", choice, err)
		}
		q := q
		q.Spec.Compiler = choice
		if o, err := NewEvaluator(nil).Evaluate(t.Context(), q, bundle); err == nil || !strings.Contains(err.Error(), "compiler") {
			t.Errorf("a worker takes the compiler %q: %v", choice, o)
		}
	}
	for _, choice := range []string{"", "prebuilt", "nvcc", "clang", "clang++", "clang++-19", "clang-16", "nvcc-12"} {
		if err := compile.CheckChoice(choice); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program was run")
	}
	own := NewEvaluator(nil)
	own.AnyCompiler = true
	q.Spec.Compiler = program
	_, _ = own.Evaluate(t.Context(), q, bundle)
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("one's own program was not run: %v", err)
	}
}

// Definitions of many kernels do not fill a worker's memory.
func TestFewDefinitionsAreKept(t *testing.T) {
	q, bundle := question(t)
	kept := definitions{most: 3 * len(bundle)}
	for i := range 20 {
		digest := fmt.Sprint(q.Spec.Bundle, i)
		first, err := kept.open(digest, bundle)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := kept.open(digest, bundle); err != nil || again != first {
			t.Errorf("what was opened last is opened again (%v)", err)
		}
		if n := min(i+1, 3); len(kept.opened) != n || kept.bytes != n*len(bundle) {
			t.Errorf("%d definitions of %d bytes are kept, want %d", len(kept.opened), kept.bytes, n)
		}
	}
	kept = definitions{most: 1}
	if _, err := kept.open("large", bundle); err != nil || len(kept.opened) != 1 {
		t.Errorf("a definition that is too large: %d are kept (%v)", len(kept.opened), err)
	}
}
