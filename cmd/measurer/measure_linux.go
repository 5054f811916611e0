package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// measure measures one job.
func (g *gpu) measure(job *wire.Job, stage func(string)) *wire.Result {
	began := time.Now()
	r := &wire.Result{}
	if job.Script != nil {
		r.Failure = g.follow(job, r, stage)
	} else {
		r.Failure = g.attempt(job, r, stage)
	}
	r.GPUTime = micro(time.Since(began))
	return r
}

func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// attempt measures one job, and says why it cannot.
func (g *gpu) attempt(job *wire.Job, r *wire.Result, stage func(string)) *wire.Failure {
	stage(wire.StageLoading)
	m, err := g.Load(job.Image, job.MaxRegisters)
	if err != nil {
		return failure(wire.FailedLoad, err)
	}
	defer func() { _ = m.Unload() }()
	f, err := m.Function(job.Entry)
	if err != nil {
		return failure(wire.FailedLoad, fmt.Errorf("kernel %s: %w", job.Entry, err))
	}
	if err := describe(f, r); err != nil {
		return failure(wire.FailedLoad, err)
	}
	stage(wire.StageFilling)
	defer g.buffers.end()
	if err := g.buffers.begin(job.Buffers); err != nil {
		return failure(wire.FailedLaunch, err)
	}
	launch, err := g.prepare(f, m, job)
	if err != nil {
		return failure(wire.FailedLaunch, err)
	}
	stage(wire.StageChecking)
	if err := g.once(f, launch); err != nil {
		return failure(wire.FailedLaunch, err)
	}
	if r.Read, err = g.read(job.Read); err != nil {
		return failure(wire.FailedMachine, err)
	}
	stage(wire.StageTiming)
	if err := g.first(f, launch, job, r); err != nil {
		return failure(wire.FailedRun, err)
	}
	if err := g.time(f, launch, &job.Plan, r); err != nil {
		return failure(wire.FailedRun, err)
	}
	return nil
}

// describe notes what the kernel takes.
func describe(f *cuda.Function, r *wire.Result) error {
	for _, a := range []struct {
		of cuda.Attribute
		to *int
	}{{cuda.Registers, &r.Registers}, {cuda.LocalBytes, &r.LocalBytes}, {cuda.StaticShared, &r.StaticShared}, {cuda.ConstBytes, &r.ConstBytes}} {
		var err error
		if *a.to, err = f.Get(a.of); err != nil {
			return err
		}
	}
	return nil
}

// portableCluster is the most CTAs of a cluster that every GPU with clusters takes.
const portableCluster = 8

// prepare sets what a launch needs and lays out its parameters.
func (g *gpu) prepare(f *cuda.Function, m *cuda.Module, job *wire.Job) (*cuda.Launch, error) {
	if job.Shared > 0 {
		if err := f.Put(cuda.MaxDynamicShared, job.Shared); err != nil {
			return nil, fmt.Errorf("%d bytes of dynamic shared memory: %w", job.Shared, err)
		}
	}
	if job.CarveOut >= 0 {
		if err := f.Put(cuda.CarveOut, job.CarveOut); err != nil {
			return nil, fmt.Errorf("a carve-out of %d %%: %w", job.CarveOut, err)
		}
	}
	if c := job.Cluster; c[0]*max(c[1], 1)*max(c[2], 1) > portableCluster {
		if err := f.Put(cuda.NonPortableCluster, 1); err != nil {
			return nil, fmt.Errorf("a cluster of %v CTAs: %w", c, err)
		}
	}
	l := &cuda.Launch{Grid: job.Grid, Block: job.Block, Cluster: job.Cluster, Cooperative: job.Cooperative, Shared: job.Shared}
	if err := g.parameters(l, job); err != nil {
		return nil, err
	}
	if sizes, ok := f.ParamSizes(); ok {
		if len(sizes) != len(l.Params) {
			return nil, fmt.Errorf("the kernel takes %d parameters, %d are given", len(sizes), len(l.Params))
		}
		for i, n := range sizes {
			if n != int64(len(l.Params[i])) {
				return nil, fmt.Errorf("parameter %d (%s) takes %d bytes, %d are given", i, job.Params[i].Name, n, len(l.Params[i]))
			}
		}
	}
	for i := range job.Constants {
		if err := g.constant(m, &job.Constants[i]); err != nil {
			return nil, err
		}
	}
	return l, g.buffers.restore()
}

// parameters lays out a launch's parameters.
func (g *gpu) parameters(l *cuda.Launch, job *wire.Job) error {
	l.Params = l.Params[:0]
	for i := range job.Params {
		b, err := g.bytes(&job.Params[i])
		if err != nil {
			return fmt.Errorf("parameter %d (%s): %w", i, job.Params[i].Name, err)
		}
		l.Params = append(l.Params, b)
	}
	return nil
}

// bytes are a parameter's.
func (g *gpu) bytes(p *wire.Param) ([]byte, error) {
	if p.Bytes != nil {
		return p.Bytes, nil
	}
	w := &g.buffers.job[p.Buffer]
	if p.Texture != nil {
		return g.object(w, p.Texture)
	}
	at := w.at + cuda.Address(p.Offset)
	if t := p.Map; t != nil {
		return g.Encode(&cuda.TensorMap{
			Elem: t.Elem, Address: at, Shape: t.Shape, Strides: t.Strides, Box: t.Box, ElementStrides: t.ElementStrides,
			Interleave: t.Interleave, Swizzle: t.Swizzle, L2Promotion: t.L2Promotion, FillNaN: t.FillNaN,
		})
	}
	return binary.LittleEndian.AppendUint64(nil, uint64(at)), nil
}

// constant fills a variable of a module.
func (g *gpu) constant(m *cuda.Module, p *wire.Param) error {
	at, size, err := m.Global(p.Name)
	if err != nil {
		return fmt.Errorf("variable %s: %w", p.Name, err)
	}
	b := g.buffers.job[p.Buffer]
	if b.bytes > size {
		return fmt.Errorf("variable %s has %d bytes, and %d are given", p.Name, size, b.bytes)
	}
	return g.Copy(at, b.from.at, b.bytes, g.stream)
}

// once launches the kernel and waits for it. What ends it is the kernel's fault.
func (g *gpu) once(f *cuda.Function, l *cuda.Launch) error {
	if err := f.Launch(l, g.stream); err != nil {
		return err
	}
	return g.Wait(g.stream)
}

// read reads parts of the job's buffers.
func (g *gpu) read(ranges []wire.Range) ([][]byte, error) {
	var out [][]byte
	gathered := map[*working]bool{}
	for _, r := range ranges {
		if r.Buffer < 0 || r.Buffer >= len(g.buffers.job) || r.From < 0 || r.Bytes < 0 || r.From+r.Bytes > g.buffers.job[r.Buffer].bytes {
			return nil, errors.New("a part of a buffer that there is not")
		}
		w := &g.buffers.job[r.Buffer]
		if !gathered[w] {
			if err := g.gather(w); err != nil {
				return nil, err
			}
			gathered[w] = true
		}
		b := make([]byte, r.Bytes)
		if err := g.Read(b, w.at+cuda.Address(r.From)); err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}
