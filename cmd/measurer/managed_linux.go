package main

import (
	"fmt"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// migrates reports whether a job's first launch has pages to migrate.
func migrates(job *wire.Job) bool {
	for i := range job.Buffers {
		if m := job.Buffers[i].Managed; m != "" && m != wire.ManagedDevice {
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

// anew gives a buffer managed memory that nobody has touched.
func (g *gpu) anew(w *working) error {
	err := g.Release(w.at)
	if err == nil {
		w.at, err = g.Managed(w.bytes)
	}
	return err
}

// hostWrites has the host write a buffer's contents to its managed memory.
func (g *gpu) hostWrites(w *working) error {
	room := make([]byte, min(chunk, w.bytes))
	for off := int64(0); off < w.bytes; off += chunk {
		part := room[:min(chunk, w.bytes-off)]
		if err := g.Read(part, w.from.at+cuda.Address(off)); err != nil {
			return err
		}
		cuda.HostWrites(w.at+cuda.Address(off), part)
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
		case wire.ManagedNowhere:
			err = g.anew(w)
		case wire.ManagedHost:
			if err = g.anew(w); err == nil {
				err = g.hostWrites(w)
			}
		}
		if err != nil {
			return fmt.Errorf("buffer %d in managed memory: %w", i, err)
		}
	}
	return g.parameters(l, job)
}
