package evaluate

import (
	"context"
	"maps"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/record"
)

// A record with a time and counters is predicted as one with the time, and its counters as those of one that has nothing
// else.
func TestCountersBesideATimeAreOfALaunchByItself(t *testing.T) {
	k, err := catalogue.Open("transpose_tiled")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	b := Batch{Compiler: compiler, Arch: d, Level: simengine.Model, Slots: 1, Repeated: true, Kernels: func(string) (*kernel.Definition, error) { return def, nil }}
	time, counters := &record.Time{Median: 1}, map[string]record.Counter{"dram__bytes_read.sum": {Value: 1}}
	records := []record.Record{
		{Line: 1, Kernel: def.Name, ProblemSize: []int64{1024}, TimeUS: time, Counters: counters},
		{Line: 2, Kernel: def.Name, ProblemSize: []int64{1024}, TimeUS: time},
		{Line: 3, Kernel: def.Name, ProblemSize: []int64{1024}, Counters: counters},
	}
	results, err := b.Run(context.Background(), records)
	if err != nil {
		t.Fatal(err)
	}
	both, timed, profiled := &results[0], &results[1], &results[2]
	for _, r := range results {
		if r.Report == nil {
			t.Fatalf("no prediction: %s", r.Outcome.Message)
		}
	}
	if timed.Profiled != nil {
		t.Error("a record without counters has a report to compare them with")
	}
	same(t, both.Report, timed.Report)
	same(t, both.Profiled, profiled.Report)
	same(t, profiled.Profiled, profiled.Report)
	const read = "dram__bytes_read.sum"
	if in, cold := both.Report.Metrics[read], both.Profiled.Metrics[read]; cold < 4e6 || in > cold/2 {
		t.Errorf("DRAM reads %g bytes back to back and %g after caches were flushed; the matrix of 4.2 MB fits L2", in, cold)
	}
}

func same(t *testing.T, a, b *simengine.Report) {
	t.Helper()
	if a.TimeUS != b.TimeUS || !maps.Equal(a.Metrics, b.Metrics) {
		t.Errorf("predictions differ: %g us and %g us, counters %v and %v", a.TimeUS, b.TimeUS, a.Metrics, b.Metrics)
	}
}
