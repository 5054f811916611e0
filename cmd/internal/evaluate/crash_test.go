package evaluate

import (
	"context"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/record"
)

// crashing panics the second time that it is asked.
type crashing struct {
	Compiler
	times *int
}

func (c crashing) Compile(ctx context.Context, r compile.Request) (compile.Result, error) {
	if *c.times++; *c.times == 2 {
		var none []int
		_ = none[*c.times]
	}
	return c.Compiler.Compile(ctx, r)
}

// A crash costs a record its prediction, which says where it was, and the records after it nothing.
func TestCrashCostsOneRecord(t *testing.T) {
	times := 0
	b := batchThatCrashes(t, &times)
	records := []record.Record{{Line: 1, Kernel: "copy"}, {Line: 2, Kernel: "copy"}, {Line: 3, Kernel: "copy"}}
	out, err := b.Run(t.Context(), records)
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Outcome.Validity != tuner.Correct || out[2].Outcome.Validity != tuner.Correct || out[0].Outcome.TimeUS != out[2].Outcome.TimeUS {
		t.Errorf("before the crash: %+v; after it: %+v", out[0].Outcome, out[2].Outcome)
	}
	if o := out[1].Outcome; o.Validity != tuner.Runtime || !strings.Contains(o.Message, "index out of range [2]") || !strings.Contains(o.Message, "evaluate.crashing.Compile (crash_test.go:") {
		t.Errorf("the crash: %s: %s", o.Validity, o.Message)
	}
}

// A crash while a record is explained is an error that says where it was.
func TestCrashWhileExplaining(t *testing.T) {
	times := 1
	_, err := batchThatCrashes(t, &times).Study(t.Context(), []record.Record{{Line: 1, Kernel: "copy"}})
	if err == nil || !strings.Contains(err.Error(), "warptune crashed on it") || !strings.Contains(err.Error(), "evaluate.crashing.Compile (crash_test.go:") {
		t.Errorf("the crash: %v", err)
	}
}

// batchThatCrashes is a batch whose compiler panics the second time that it is asked, of times so far.
func batchThatCrashes(t *testing.T, times *int) *Batch {
	t.Helper()
	prebuilt, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	k, err := catalogue.Open("copy")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	return &Batch{Compiler: crashing{prebuilt, times}, Arch: d, Level: simengine.Model, Check: simengine.CheckNone, Slots: 1,
		Kernels: func(string) (*kernel.Definition, error) { return def, nil }}
}
