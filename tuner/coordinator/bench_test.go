package coordinator_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/strategies"
	"github.com/warptune/warptune/search/strategytest"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// stored makes a store with a running sweep of ten million configurations, of
// which n have results.
func stored(b *testing.B, n int64) (path string, spec tuner.Spec) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "sweeps.db")
	st := open(b, path)
	defer st.Close()
	bundle := tunertest.Bundle{Size: 10_000_000}
	content, digest := bundle.Content()
	if _, err := st.PutBundle(digest, content, tuner.Act{}); err != nil {
		b.Fatal(err)
	}
	spec = bundle.Spec("bench")
	rec := tuner.Sweep{Num: 1, ID: spec.ID(""), Spec: spec, Window: tuner.WideWindow, Names: []string{"HIGH", "LOW"}, State: tuner.Running}
	c := tuner.Changes{Sweeps: []tuner.Sweep{rec}}
	scope := spec.Scope()
	for i := range n {
		c.Results = append(c.Results, tuner.ResultChange{
			Sweep: 1, Result: tuner.Result{Seq: i, Index: i, Attempts: 1, Outcome: tunertest.Oracle(i)},
			Answer: tuner.AnswerKey(scope, tunertest.Space(1).At(i).Values),
		})
		if len(c.Results) == 5000 || i == n-1 {
			if err := st.Commit(&c); err != nil {
				b.Fatal(err)
			}
			c = tuner.Changes{}
		}
	}
	return path, spec
}

func open(b *testing.B, path string) *store.Bolt {
	b.Helper()
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		b.Fatal(err)
	}
	return st
}

var sizes = []int64{1e4, 1e5, 1e6}

// BenchmarkRestart is how long a coordinator takes from opening its file to
// being ready, with results of an unfinished sweep in it, and what memory it
// then uses.
func BenchmarkRestart(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, _ := stored(b, n)
			for b.Loop() {
				before := cpuTime()
				st := open(b, path)
				c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric((cpuTime() - before).Seconds(), "cpu-s")
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				b.ReportMetric(float64(m.HeapInuse)/(1<<20), "heap-MiB")
				b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MiB")
				runtime.KeepAlive(c)
				if u, err := st.Usage(); err == nil {
					b.ReportMetric(float64(u.Used)/float64(n), "storeB/result")
				}
				st.Close()
				b.StartTimer()
			}
		})
	}
}

// cpuTime is what the process has used so far: on a busy machine it says more
// than the clock.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// learning plans the recommended strategy on a space that every sweep has.
type learning struct{ space *search.Space }

// Plan is in tuner.Planner.
func (p learning) Plan(_ context.Context, spec tuner.Spec, _ tuner.Files) (tuner.Plan, error) {
	strategy, err := strategies.New(strategies.Recommended, p.space, spec.Seed)
	return tuner.Plan{Space: p.space, Names: p.space.Names(), Strategy: strategy}, err
}

// BenchmarkRestartLearning is a start with four unfinished sweeps of 250 results
// each whose strategy learns: how long it takes until a call is answered, and
// until all of them go on.
func BenchmarkRestartLearning(b *testing.B) {
	const sweeps, each = 4, 250
	space, answer := strategytest.Valley(b)
	st := store.NewMemory()
	serve := func() (c *coordinator.Coordinator, stop func()) {
		c, err := coordinator.New(st, coordinator.Options{Planner: learning{space}, Alone: true})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		return c, func() { cancel(); <-ended }
	}
	call := func(c *coordinator.Coordinator, in *tuner.Sync) *tuner.SyncReply {
		reply, err := c.Synchronize(b.Context(), in, 0)
		if err != nil {
			b.Fatal(err)
		}
		return reply
	}
	worker := tunertest.Worker("w", 1, 4)
	c, stop := serve()
	content, digest := tunertest.Bundle{Size: 1}.Content()
	if err := c.PutBundle(b.Context(), digest, content); err != nil {
		b.Fatal(err)
	}
	for seed := range uint64(sweeps) {
		spec := tunertest.Bundle{Size: 1}.Spec("learns")
		spec.Seed = seed
		if _, err := c.Submit(b.Context(), spec, ""); err != nil {
			b.Fatal(err)
		}
	}
	in := &tuner.Sync{Worker: worker, Want: 16}
	for done := 0; done < sweeps*each; done += len(in.Reports) {
		reply := call(c, in)
		in.Reports = nil
		for _, g := range reply.Grants {
			o := answer(g.Index)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &tuner.Outcome{Validity: tuner.Correct, TimeUS: o.Objective}})
		}
	}
	stop()
	for b.Loop() {
		started := time.Now()
		c, stop := serve()
		call(c, &tuner.Sync{Worker: worker})
		b.ReportMetric(time.Since(started).Seconds(), "serves-s")
		for _, sweep := range c.Sweeps(b.Context()) { // steering waits for them
			if _, err := c.Steer(b.Context(), sweep.ID, tuner.Paused); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(started).Seconds(), "all-awake-s")
		b.StopTimer()
		for _, sweep := range c.Sweeps(b.Context()) {
			if _, err := c.Steer(b.Context(), sweep.ID, tuner.Running); err != nil {
				b.Fatal(err)
			}
		}
		stop()
		b.StartTimer()
	}
}

// BenchmarkSynchronize is one worker's call that reports 16 results and is
// granted 16 trials, durably, with results stored before: it must not depend
// on how many.
func BenchmarkSynchronize(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, _ := stored(b, n)
			st := open(b, path)
			defer st.Close()
			c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
			if err != nil {
				b.Fatal(err)
			}
			ctx, cancel := context.WithCancel(b.Context())
			ended := make(chan error, 1)
			go func() { ended <- c.Run(ctx) }()
			in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 16), Want: 16}
			for b.Loop() {
				reply, err := c.Synchronize(ctx, in, 0)
				if err != nil {
					b.Fatal(err)
				}
				in.Reports = in.Reports[:0]
				for _, g := range reply.Grants {
					o := tunertest.Oracle(g.Index)
					in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
				}
			}
			b.StopTimer()
			cancel()
			<-ended
		})
	}
}

// BenchmarkSubmit is how long it takes to submit a space of ten million
// configurations.
func BenchmarkSubmit(b *testing.B) {
	st := store.NewMemory()
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}, MaxLive: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	bundle := tunertest.Bundle{Size: 10_000_000}
	content, digest := bundle.Content()
	if err := c.PutBundle(ctx, digest, content); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		out, err := c.Submit(ctx, bundle.Spec("bench"), fmt.Sprint(n))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Steer(ctx, out.Sweep.ID, tuner.Cancelled); err != nil {
			b.Fatal(err)
		}
		n++
	}
	b.StopTimer()
	cancel()
	<-ended
}
