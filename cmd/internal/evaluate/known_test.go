package evaluate

import (
	"context"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// A question that was answered is not simulated again, and is found under the
// digest that its outcome carries, which is known before.
func TestKnownOutcomesAreNotSimulatedAgain(t *testing.T) {
	k, err := catalogue.Open("copy")
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
	job := Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model}
	first, report, err := New(compiler).Evaluate(t.Context(), job)
	if err != nil || report == nil || first.Digest == "" {
		t.Fatal(first, report, err)
	}
	if d, ok := New(compiler).Digest(t.Context(), job); !ok || d != first.Digest {
		t.Errorf("its digest is %q (%v), the outcome's %q", d, ok, first.Digest)
	}
	asked := ""
	job.Known = func(_ context.Context, digest string) (tuner.Outcome, bool) {
		asked = digest
		o := first.Clone()
		o.TimeUS++ // tells an answer found from one simulated
		return o, true
	}
	again, report, err := New(compiler).Evaluate(t.Context(), job)
	if err != nil || report != nil || again.TimeUS != first.TimeUS+1 {
		t.Errorf("%+v, report %v, %v: want the known outcome", again, report, err)
	}
	if asked != first.Digest {
		t.Errorf("asked for %q, the outcome's digest is %q", asked, first.Digest)
	}
}
