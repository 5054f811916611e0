package main

import (
	"math"
	"time"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// Limits of a batch: the launches of a graph, and the fewest batches of which a median
// says something.
const (
	mostLaunches = 8000
	leastBatches = 3
)

// time times launches: back to back in batches, then single ones with a cold L2.
func (g *gpu) time(f *cuda.Function, l *cuda.Launch, plan *wire.Plan, r *wire.Result) error {
	if err := g.buffers.restore(); err != nil {
		return err
	}
	each, err := g.warmUp(f, l, plan)
	if err != nil {
		return err
	}
	graph, each, err := g.graph(f, l, each, plan, r)
	if err != nil {
		return err
	}
	defer func() { _ = graph.Close() }()
	batches := min(plan.Batches, max(int(plan.Total/(each*float64(r.Launches))), leastBatches))
	for i := range batches {
		if err := g.batch(graph, i, r); err != nil {
			return err
		}
	}
	if each*float64(plan.Cold) > plan.Total {
		return nil
	}
	return g.cold(f, l, plan.Cold, r)
}

// graph makes a batch of launches, each of which takes about so long. In a graph that may be much
// less than in a stream, where short launches wait for the host: then it is made again, longer.
func (g *gpu) graph(f *cuda.Function, l *cuda.Launch, each float64, plan *wire.Plan, r *wire.Result) (*cuda.Graph, float64, error) {
	for again := false; ; again = true {
		r.Launches = min(max(int(math.Ceil(plan.Batch/each)), 1), mostLaunches)
		graph, err := g.Capture(g.stream, func() error {
			for range r.Launches {
				if err := f.Launch(l, g.stream); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
		start := func() error { return graph.Start(g.stream) }
		if err := start(); err != nil { // the first start uploads it
			return nil, 0, err
		}
		t, err := g.span(start, func() {})
		if err != nil {
			return nil, 0, err
		}
		each = max(t/float64(r.Launches), 0.1)
		if again || 2*t >= plan.Batch || r.Launches == mostLaunches {
			return graph, each, nil
		}
		if err := graph.Close(); err != nil {
			return nil, 0, err
		}
	}
}

// batch times one start of a graph. Every second one is watched, which takes the host
// longer than the batch may take.
func (g *gpu) batch(graph *cuda.Graph, i int, r *wire.Result) error {
	if err := g.Wait(g.stream); err != nil {
		return err
	}
	began := time.Now()
	t, err := g.span(func() error { return graph.Start(g.stream) }, func() {
		if s, ok := g.state(); ok && i%2 == 1 {
			r.States = append(r.States, s)
		}
	})
	if err != nil {
		return err
	}
	r.Warm = append(r.Warm, t/float64(r.Launches))
	r.Host = append(r.Host, micro(time.Since(began)))
	return nil
}

// span is the time on the GPU of the work that f puts into the stream, microseconds.
// meanwhile is called while it is done.
func (g *gpu) span(f func() error, meanwhile func()) (float64, error) {
	if err := g.Record(g.from, g.stream); err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	if err := g.Record(g.to, g.stream); err != nil {
		return 0, err
	}
	meanwhile()
	if err := g.Wait(g.stream); err != nil {
		return 0, err
	}
	return g.Between(g.from, g.to)
}

// warmUp launches until the clocks have risen. It returns about how long a launch takes.
func (g *gpu) warmUp(f *cuda.Function, l *cuda.Launch, plan *wire.Plan) (float64, error) {
	began := time.Now()
	for n := 1; ; n = min(2*n, mostLaunches) {
		t, err := g.span(func() error {
			for range n {
				if err := f.Launch(l, g.stream); err != nil {
					return err
				}
			}
			return nil
		}, func() {})
		if err != nil {
			return 0, err
		}
		if micro(time.Since(began)) >= plan.WarmUp {
			return max(t/float64(n), 0.1), nil
		}
	}
}

// cold times launches after each of which L2 is filled with something else.
func (g *gpu) cold(f *cuda.Function, l *cuda.Launch, n int, r *wire.Result) (err error) {
	words := int64(g.L2) // 4 times L2
	if g.flush == 0 {
		if g.flush, err = g.Alloc(4 * words); err != nil {
			return nil // the memory is full: there are no cold times
		}
	}
	for range n {
		if err := g.Set(g.flush, 0, words, g.stream); err != nil {
			return err
		}
		t, err := g.span(func() error { return f.Launch(l, g.stream) }, func() {})
		if err != nil {
			return err
		}
		r.Cold = append(r.Cold, t)
	}
	return nil
}
