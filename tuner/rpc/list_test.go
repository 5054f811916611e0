package rpc

import (
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
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
	if err != nil || len(list.GetSweeps()) != sweeps || list.GetNextPageToken() != "" {
		t.Fatalf("%d of %d sweeps are listed (%v)", len(list.GetSweeps()), sweeps, err)
	}
	one, err := client.Get(t.Context(), &warptunev1.GetRequest{Id: list.GetSweeps()[0].GetId()})
	if err != nil || len(one.GetSweep().GetSpec().GetStart()) != 20 {
		t.Errorf("one sweep begins with %d configurations (%v)", len(one.GetSweep().GetSpec().GetStart()), err)
	}
}

// listed returns the seeds of the sweeps listed, and how many pages they came in.
func listed(t *testing.T, client warptunev1.SweepServiceClient, m *warptunev1.ListRequest, between func()) (seeds []uint64, pages int) {
	t.Helper()
	for {
		page, err := client.List(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		if n := int64(len(page.GetSweeps())); m.GetPageSize() > 0 && n > m.GetPageSize() {
			t.Fatalf("a page has %d sweeps, at most %d were asked for", n, m.GetPageSize())
		}
		for _, s := range page.GetSweeps() {
			seeds = append(seeds, s.GetSpec().GetSeed())
		}
		pages++
		if m.PageToken = page.GetNextPageToken(); m.PageToken == "" {
			return seeds, pages
		}
		between()
	}
}

// Pages have every sweep once, newest first, whatever is submitted and deleted
// between them, and only the kernel asked for.
func TestListInPages(t *testing.T) {
	address, c := serve(t)
	content, digest := tunertest.Bundle{Size: 10}.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	next := uint64(0)
	submit := func() {
		next++
		spec := tunertest.Bundle{Size: 10}.Spec([]string{"even", "odd"}[next%2])
		spec.Seed = next
		s, err := c.Submit(t.Context(), spec, "")
		if err == nil && next%10 == 0 {
			if _, err = c.Steer(t.Context(), s.Sweep.ID, tuner.Cancelled); err == nil {
				err = c.Delete(t.Context(), s.Sweep.ID)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 25 {
		submit()
	}
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	for _, size := range []int64{0, 1, 4, 25, 26, 1e6} {
		newest := next
		seeds, pages := listed(t, client, &warptunev1.ListRequest{PageSize: size, Kernel: "odd"}, submit)
		for i, seed := range seeds {
			if want := newest - (newest+1)%2 - uint64(2*i); seed != want {
				t.Fatalf("in pages of %d sweep %d is %d, want %d", size, i, seed, want)
			}
		}
		if want := int(newest+1) / 2; len(seeds) != want || size > 0 && pages != (want+int(min(size, 1000))-1)/int(min(size, 1000)) {
			t.Errorf("%d sweeps in %d pages of %d, want %d", len(seeds), pages, size, want)
		}
	}
	var all int
	for _, err := range Sweeps(t.Context(), client, &warptunev1.ListRequest{PageSize: 3, Kernel: "odd"}) {
		if all++; err != nil {
			t.Fatal(err)
		}
	}
	if want := int(next+1) / 2; all != want {
		t.Errorf("%d sweeps follow one another, want %d", all, want)
	}
	for _, m := range []*warptunev1.ListRequest{{PageSize: -1}, {PageToken: "not one"}} {
		if _, err := client.List(t.Context(), m); tuner.KindOf(FromStatus(err)) != tuner.Invalid {
			t.Errorf("%v: %v", m, err)
		}
	}
}

// Who asks for some metrics of results gets those, as they are, and nobody else's answers change.
func TestResultsWithSomeMetrics(t *testing.T) {
	address, c := serve(t)
	content, digest := tunertest.Bundle{Size: 10}.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	s, err := c.Submit(t.Context(), tunertest.Bundle{Size: 10}.Spec("k"), "")
	if err != nil {
		t.Fatal(err)
	}
	in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 16), Want: 16}
	for range 2 {
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range reply.Grants {
			o := tunertest.Oracle(g.Index)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
	}
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	results := func(metrics ...string) []*warptunev1.Result {
		stream, err := client.Results(t.Context(), &warptunev1.ResultsRequest{Id: s.Sweep.ID, Metrics: metrics})
		if err != nil {
			t.Fatal(err)
		}
		page, err := stream.Recv()
		if err != nil || len(page.GetResults()) != 10 {
			t.Fatal(page, err)
		}
		return page.GetResults()
	}
	const name = "dram__bytes_read.sum"
	some := results(name, "none")
	for i, whole := range results() {
		got, want := some[i].GetOutcome().GetMetrics(), whole.GetOutcome().GetMetrics()
		if len(want) == 0 && len(got) == 0 {
			continue
		}
		if len(want) < 2 || len(got) != 1 || got[name] != want[name] {
			t.Errorf("configuration %d: %v of %v", i, got, want)
		}
	}
}
