package evaluate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// assemblerSaying is a ptxas of a version that says the same of every kernel.
func assemblerSaying(t *testing.T, version string, registers, spill, shared int) *compile.PTXAS {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a program that is a shell script")
	}
	path := filepath.Join(t.TempDir(), "ptxas")
	script := fmt.Sprintf(`#!/bin/sh
case "$1" in --version) echo "Cuda compilation tools, release 1.0, V%s"; exit;; --help) echo "'sm_90'"; exit;; esac
sed -n 's/.*\.entry \([A-Za-z0-9_]*\).*/\1/p' kernel.ptx | while read name; do
  echo "ptxas info    : Compiling entry function '$name' for 'sm_90'"
  echo "ptxas info    : Function properties for $name"
  echo "    %d bytes stack frame, %d bytes spill stores, 0 bytes spill loads"
  echo "ptxas info    : Used %d registers, %d bytes smem"
done >&2
`, version, spill, spill, registers, shared)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return compile.NewPTXAS(path, "", sandbox.DefaultLimits())
}

// assembledJob is one configuration of a built-in kernel.
func assembledJob(t *testing.T, name string, config string) (*Evaluator, Job) {
	t.Helper()
	k, err := catalogue.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	return New(compiler), Job{Kernel: def, Config: configured(t, def, config), Problem: smallProblems[name], Arch: d, Level: simengine.Model, Check: simengine.CheckNone}
}

func configured(t *testing.T, def *kernel.Definition, text string) search.Config {
	t.Helper()
	cfg := def.Default()
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		for i := range cfg.Names {
			if cfg.Names[i] == name {
				v, err := search.ParseValue(cfg.Values[i].Kind, value)
				if err != nil {
					t.Fatal(err)
				}
				cfg.Values[i] = v
			}
		}
	}
	return cfg
}

// TestAssemblerSaysResources: registers, spills and shared memory are the assembler's, with what follows of them, and the
// result says so; its question is another one than the model's, and than another assembler's.
func TestAssemblerSaysResources(t *testing.T) {
	ev, job := assembledJob(t, "sgemm", "max_registers=0")
	outcome := func(a *compile.PTXAS) (tuner.Outcome, *simengine.Report) {
		t.Helper()
		job.Assembler = a
		out, report, err := ev.Evaluate(t.Context(), job)
		if err != nil || out.Validity != tuner.Correct {
			t.Fatalf("%s %s, %v", out.Validity, out.Message, err)
		}
		if digest, ok := ev.Digest(t.Context(), job); !ok || digest != out.Digest {
			t.Errorf("the digest is foretold as %s, and is %s", digest, out.Digest)
		}
		return out, report
	}
	model, of := outcome(nil)
	if of.Assembler != "" {
		t.Errorf("the model's assembler is %q", of.Assembler)
	}
	same, _ := outcome(assemblerSaying(t, "1.0.0", model.Registers, model.SpillBytes, of.SharedStatic))
	if same.TimeUS != model.TimeUS || same.Occupancy != model.Occupancy || same.Digest == model.Digest {
		t.Errorf("the same resources: %+v, want %+v with another digest", same, model)
	}
	much, report := outcome(assemblerSaying(t, "1.0.1", 250, 8, 40_000))
	if much.Registers != 250 || much.SpillBytes != 8 || much.Shared != 40_000 || much.Occupancy >= model.Occupancy {
		t.Errorf("250 registers: %+v", much)
	}
	if much.Compiler != model.Compiler+", registers by ptxas 1.0.1" || report.Assembler != "ptxas 1.0.1" {
		t.Errorf("compiler %q, assembler %q", much.Compiler, report.Assembler)
	}
	if much.Digest == same.Digest {
		t.Error("assemblers of two versions have one question")
	}
	again, _ := outcome(nil)
	if again.Digest != model.Digest || again.TimeUS != model.TimeUS || again.Registers != model.Registers {
		t.Errorf("the model says %+v, said %+v", again, model)
	}
}

// TestAssemblerWithoutSpills: where the assembler spills nothing, the model's spills cost nothing.
func TestAssemblerWithoutSpills(t *testing.T) {
	ev, job := assembledJob(t, "fat_threads", "max_registers=32")
	model, _, err := ev.Evaluate(t.Context(), job)
	if err != nil || model.SpillBytes == 0 {
		t.Fatalf("the model spills %d bytes: %s %v", model.SpillBytes, model.Message, err)
	}
	job.Assembler = assemblerSaying(t, "1.0.0", model.Registers, 0, 0)
	out, _, err := ev.Evaluate(t.Context(), job)
	if err != nil || out.SpillBytes != 0 || out.TimeUS >= model.TimeUS {
		t.Errorf("%+v, %v; with spills %v us", out, err, model.TimeUS)
	}
}

// TestAssemblerThatSpillsAlone: where only the assembler spills, with fewer registers, spills cost what they cost the
// model with as many.
func TestAssemblerThatSpillsAlone(t *testing.T) {
	ev, job := assembledJob(t, "fat_threads", "max_registers=0")
	model, _, err := ev.Evaluate(t.Context(), job)
	if err != nil || model.SpillBytes != 0 {
		t.Fatalf("the model spills %d bytes: %s %v", model.SpillBytes, model.Message, err)
	}
	job.Assembler = assemblerSaying(t, "1.0.0", 32, 7000, 0)
	out, _, err := ev.Evaluate(t.Context(), job)
	if err != nil || out.Registers != 32 || out.SpillBytes != 7000 {
		t.Fatalf("%+v, %v", out, err)
	}
	_, capped := assembledJob(t, "fat_threads", "max_registers=32")
	want, _, err := ev.Evaluate(t.Context(), capped)
	const reloads = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"
	if err != nil || want.Metrics[reloads] == 0 || out.Metrics[reloads] != want.Metrics[reloads] {
		t.Errorf("%v sectors are reloaded, want the %v of a cap of 32: %v", out.Metrics[reloads], want.Metrics[reloads], err)
	}
}

// TestAssemblerThatIsMissing: it is no fault of the configuration.
func TestAssemblerThatIsMissing(t *testing.T) {
	ev, job := assembledJob(t, "copy", "")
	job.Assembler = compile.NewPTXAS(filepath.Join(t.TempDir(), "none"), "", sandbox.DefaultLimits())
	var lacks *compile.UnavailableError
	if out, _, err := ev.Evaluate(t.Context(), job); !errors.As(err, &lacks) {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := ev.Build(t.Context(), job); !errors.As(err, &lacks) {
		t.Error(err)
	}
}

// TestBuild compares the model with the assembler.
func TestBuild(t *testing.T) {
	ev, job := assembledJob(t, "sgemm", "max_registers=0")
	model, report, err := ev.Evaluate(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	job.Assembler = assemblerSaying(t, "1.0.0", 250, 12, 77)
	b, err := ev.Build(t.Context(), job)
	if err != nil || b.Refused != nil || b.By != "ptxas 1.0.0" {
		t.Fatalf("%+v, %v", b, err)
	}
	if want := (simengine.Resources{Registers: 250, SpillBytes: 12, Shared: 77}); b.Real != want {
		t.Errorf("%+v, want %+v", b.Real, want)
	}
	if want := (simengine.Resources{Registers: model.Registers, SpillBytes: model.SpillBytes, Shared: report.SharedStatic}); b.Model != want || b.SpillAgrees() {
		t.Errorf("%+v, want %+v", b.Model, want)
	}
	if model, actual := b.Occupancies(job.Arch, 256, 0); model <= actual || actual != 1 {
		t.Errorf("%d and %d CTAs of an SM", model, actual)
	}
}
