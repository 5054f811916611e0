package rpc

import (
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// However much sweeps begin with, all of them can be listed: what is long is in
// Get only.
func TestLongSpecsAreListed(t *testing.T) {
	address, c := serve(t)
	content, digest := tunertest.Bundle{Size: 10}.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	const sweeps = 150 // with 60 KB each: more than a message may have
	for i := range uint64(sweeps) {
		spec := tunertest.Bundle{Size: 10}.Spec("k")
		spec.Seed = i
		for range 20 {
			spec.Start = append(spec.Start, "A="+strings.Repeat("1", 3000))
		}
		if _, err := c.Submit(t.Context(), spec, ""); err != nil {
			t.Fatal(err)
		}
	}
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	list, err := client.List(t.Context(), &warptunev1.ListRequest{})
	if err != nil || len(list.GetSweeps()) != sweeps {
		t.Fatalf("%d of %d sweeps are listed (%v)", len(list.GetSweeps()), sweeps, err)
	}
	one, err := client.Get(t.Context(), &warptunev1.GetRequest{Id: list.GetSweeps()[0].GetId()})
	if err != nil || len(one.GetSweep().GetSpec().GetStart()) != 20 {
		t.Errorf("one sweep begins with %d configurations (%v)", len(one.GetSweep().GetSpec().GetStart()), err)
	}
}
