package main

import (
	"fmt"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// migrates reports whether a job's first launch has pages to migrate.
func migrates(job *wire.Job) bool {
	for i := range job.Buffers {
		if m := job.Buffers[i].Managed; m == wire.ManagedHost || m == wire.ManagedNowhere {
			return true
		}
	}
	return false
}

// first times launches before each of which pages of managed memory are where they are in the
// beginning. Code is loaded and has run: what they take beyond others is for the pages.
func (g *gpu) first(f *cuda.Function, l *cuda.Launch, job *wire.Job, r *wire.Result) error {
	if !migrates(job) {
		return nil
	}
	for range job.Plan.First {
		if err := g.place(job, l); err != nil {
			return err
		}
		t, err := g.span(func() error { return f.Launch(l, g.stream) }, func() {})
		if err != nil {
			return err
		}
		r.First = append(r.First, t)
	}
	return nil
}

// place moves pages to where they are in the beginning, and sets the launch's parameters anew: memory
// that nobody has touched is other memory.
func (g *gpu) place(job *wire.Job, l *cuda.Launch) error {
	if err := g.buffers.restore(); err != nil {
		return err
	}
	if err := g.Wait(g.stream); err != nil {
		return err
	}
	for i := range g.buffers.job {
		w := &g.buffers.job[i]
		var err error
		switch w.managed {
		case wire.ManagedHost:
			err = g.ToHost(w.at, w.bytes, g.stream)
		case wire.ManagedNowhere:
			if err = g.Release(w.at); err == nil {
				w.at, err = g.Managed(w.bytes)
			}
		}
		if err != nil {
			return fmt.Errorf("buffer %d in managed memory: %w", i, err)
		}
	}
	return g.parameters(l, job)
}
