package cluster

import (
	"context"
	"testing"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
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

// What is known answers a question, but not one that is to confirm it.
func TestConfirmationsAreSimulated(t *testing.T) {
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
	q := tuner.Question{
		Spec:   tuner.Spec{Kernel: "copy", Bundle: digest, Arch: d.Name, ArchDigest: d.Digest, Problem: def.Problem, Level: "model", Compiler: "prebuilt"},
		Config: def.Default(),
	}
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
