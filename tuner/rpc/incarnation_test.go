package rpc

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc/intake"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A worker of the release before knows sweeps by their numbers, and drops all when the coordinator's name is
// another. It is told anew of what it is granted after every start, and what it reports of before is taken if the
// store knows of it.
func TestOlderWorker(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sweeps.db")
	start := func() (*workerService, *coordinator.Coordinator, func()) {
		st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
		if err != nil {
			t.Fatal(err)
		}
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx, stop := context.WithCancel(context.Background())
		go func() { done <- c.Run(ctx) }()
		return &workerService{c: c, gate: intake.NewGate()}, c, func() {
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
			_ = st.Close()
		}
	}
	s, c, stop := start()
	b := tunertest.Bundle{Size: 50}
	content, digest := b.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), b.Spec("test"), ""); err != nil {
		t.Fatal(err)
	}
	in := &warptunev1.SynchronizeRequest{
		Worker: &warptunev1.WorkerIdentity{Id: "w", Epoch: 1, Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}},
		Want:   1,
	}
	synchronize := func() *warptunev1.SynchronizeResponse {
		t.Helper()
		out, err := s.Synchronize(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	report := func(out *warptunev1.SynchronizeResponse) {
		g := out.GetGrants()[0]
		o := tunertest.Oracle(g.GetIndex())
		in.Reports = []*warptunev1.Report{{Lease: g.GetLease(), Result: &warptunev1.Report_Outcome{Outcome: FromOutcome(&o)}}}
		in.Coordinator, in.KnownSweeps = out.GetCoordinator(), []uint64{1}
	}
	first := synchronize()
	if len(first.GetSweeps()) != 1 || first.GetSweeps()[0].GetSpec() == nil {
		t.Fatalf("it is told %v", first.GetSweeps())
	}
	report(first)
	second := synchronize()
	if len(second.GetSweeps()) != 0 || second.GetAcknowledgements()[0].GetStatus() != warptunev1.ReportStatus_REPORT_STATUS_RECORDED {
		t.Fatalf("of what it knows it is told %v; %v", second.GetSweeps(), second.GetAcknowledgements())
	}
	report(second)
	stop()
	s, c, stop = start()
	defer func() { stop() }()
	third := synchronize()
	if third.GetCoordinator() == second.GetCoordinator() || third.GetFence() != second.GetGrants()[0].GetLease().GetToken() {
		t.Errorf("after a start it is %q with fence %d, before it was %q", third.GetCoordinator(), third.GetFence(), second.GetCoordinator())
	}
	if len(third.GetSweeps()) != 1 || third.GetSweeps()[0].GetSpec() == nil || len(third.GetAcknowledgements()) != 1 {
		t.Errorf("after a start it is told %v; %v", third.GetSweeps(), third.GetAcknowledgements())
	}
	// As programs called themselves before starts had names.
	report(third)
	in.Coordinator = c.ID()
	if out := synchronize(); out.GetFence() != 0 || len(out.GetAcknowledgements()) != 0 {
		t.Errorf("what the store cannot have granted is answered: %v", out)
	}
}

// Whatever a spec says is part of the sweep's identity, by which workers know it.
func TestIdentityIsOfAllOfASpec(t *testing.T) {
	base := tunertest.Bundle{Size: 10}.Spec("test")
	base.Level = "model,cycle"
	typ := reflect.TypeFor[tuner.Spec]()
	for i := range typ.NumField() {
		spec := base.Clone()
		switch f := reflect.ValueOf(&spec).Elem().Field(i).Addr().Interface().(type) {
		case *string:
			if *f += "x"; typ.Field(i).Name == "Level" {
				*f = "cycle"
			}
		case *int64:
			*f++
		case *uint64:
			*f++
		case *float64:
			*f += 0.25
		case *bool:
			*f = !*f
		case *time.Duration:
			*f += time.Second
		case **float64:
			within := 0.5
			*f = &within
		case *[]int64:
			*f = append(*f, 7)
		case *[]string:
			*f = append(*f, "HIGH=1")
		case *map[string][]string:
			*f = map[string][]string{"HIGH": {"1"}}
		case *map[string]string:
			*f = map[string]string{"gpu": "G"}
		default:
			t.Fatalf("the test does not know how to change %s", typ.Field(i).Name)
		}
		if spec.ID("") == base.ID("") {
			t.Errorf("%s is no part of the identity", typ.Field(i).Name)
		}
	}
}
