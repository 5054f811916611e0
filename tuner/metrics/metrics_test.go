package metrics

import (
	"context"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// What is exported counts what happened, in a form that scrapers read.
func TestMetrics(t *testing.T) {
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b := tunertest.Bundle{Size: 3}
	content, digest := b.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), b.Spec("test"), ""); err != nil {
		t.Fatal(err)
	}
	in := tuner.Sync{Worker: tunertest.Worker("w", 1, 2), Want: 2}
	reply, err := c.Synchronize(t.Context(), &in, 0)
	if err != nil {
		t.Fatal(err)
	}
	in.Reports = []tuner.Report{
		{Held: reply.Grants[0].Held, Outcome: &tuner.Outcome{Validity: tuner.Compile, Message: "no"}},
		{Held: reply.Grants[1].Held, Fault: "out of memory"},
	}
	if _, err := c.Synchronize(t.Context(), &in, 0); err != nil {
		t.Fatal(err)
	}
	before := c.Stats().Commits
	w := httptest.NewRecorder()
	Handler(c).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	after := c.Stats().Commits // a sweep's trials that are asked for meanwhile may be committed
	text := w.Body.String()
	for _, want := range []string{
		`warptune_results_total{validity="compile"} 1`, `warptune_leases_requeued_total 1`, `warptune_sweeps{state="running"} 1`,
		`warptune_trials_left 2`, `warptune_workers{engine="engine-1"} 1`, `warptune_worker_slots 2`, `warptune_store_writable 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s in\n%s", want, text)
		}
	}
	if all := sample(t, text, `warptune_commit_seconds_bucket{le="+Inf"}`); all < 3 || all < before || all > after || all != sample(t, text, "warptune_commit_seconds_count") {
		t.Errorf("of %d to %d commits, at least 3, %d are counted in\n%s", before, after, all, text)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"\})? -?[0-9.e+-]+)$`)
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimSuffix(l, "\n")) {
			t.Errorf("%q is no line of the format", l)
		}
	}
}

// sample returns the value of a sample.
func sample(t *testing.T, text, name string) int64 {
	t.Helper()
	for l := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSuffix(l, "\n"), name+" "); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no sample %s in\n%s", name, text)
	return 0
}
