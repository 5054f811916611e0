package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/warptune/warptune/cmd/internal/cuda"
	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// script is one that is followed.
type script struct {
	*gpu
	module *cuda.Module
	memory []place
}

// place is a script's memory.
type place struct {
	at    cuda.Address
	bytes int64
}

// follow does what a job's script says.
func (g *gpu) follow(job *wire.Job, r *wire.Result, stage func(string)) *wire.Failure {
	stage(wire.StageLoading)
	m, err := g.Load(job.Image, 0)
	if err != nil {
		return failure(wire.FailedLoad, err)
	}
	defer func() { _ = m.Unload() }()
	stage(wire.StageFilling)
	s := script{gpu: g, module: m}
	defer s.release()
	for i := range job.Script.Memory {
		if err := s.allocate(&job.Script.Memory[i]); err != nil {
			return failure(wire.FailedLaunch, fmt.Errorf("memory %d of %d bytes: %w", i, job.Script.Memory[i].Bytes, err))
		}
	}
	stage(wire.StageScript)
	for i := range job.Script.Steps {
		step := &job.Script.Steps[i]
		done, err := s.do(step)
		if err != nil {
			return failure(wire.FailedRun, fmt.Errorf("step %d, %s: %w", i, step.Entry, err))
		}
		r.Done = append(r.Done, done)
	}
	return nil
}

func (s *script) release() {
	for _, m := range s.memory {
		_ = s.Release(m.at)
	}
}

// allocate allocates memory and writes what it holds.
func (s *script) allocate(m *wire.Memory) error {
	bytes := (m.Bytes + 3) / 4 * 4
	at, err := s.Alloc(bytes)
	if err != nil {
		if !s.buffers.drop() {
			return err
		}
		if at, err = s.Alloc(bytes); err != nil {
			return err
		}
	}
	s.memory = append(s.memory, place{at, bytes})
	if err := s.Set(at, 0, bytes/4, s.stream); err != nil {
		return err
	}
	if err := s.Wait(s.stream); err != nil {
		return err
	}
	data := m.Data
	if m.Every > 0 {
		data = make([]byte, m.Bytes)
		for i := int64(0); i < int64(len(m.Data)/8) && i*m.Every+8 <= m.Bytes; i++ {
			binary.LittleEndian.PutUint64(data[i*m.Every:], uint64(at)+binary.LittleEndian.Uint64(m.Data[8*i:]))
		}
	}
	if int64(len(data)) > bytes {
		return errors.New("more is given than it holds")
	}
	return s.Write(at, data)
}

// do does one step.
func (s *script) do(step *wire.Step) (wire.Done, error) {
	var done wire.Done
	f, err := s.module.Function(step.Entry)
	if err != nil {
		return done, err
	}
	launch, err := s.launch(f, step)
	if err != nil {
		return done, err
	}
	for i := range step.Timed + 1 {
		if err := s.ready(step); err != nil {
			return done, err
		}
		t, err := s.span(func() error {
			for range max(step.Launches, 1) {
				if err := f.Launch(launch, s.stream); err != nil {
					return err
				}
			}
			return nil
		}, func() {})
		if err != nil {
			return done, err
		}
		if i > 0 {
			done.Took = append(done.Took, t/float64(max(step.Launches, 1)))
		}
	}
	for _, r := range step.Read {
		m, err := s.at(r.Buffer)
		if err != nil || r.From < 0 || r.Bytes < 0 || r.From+r.Bytes > m.bytes {
			return done, errors.New("a part of memory that there is not")
		}
		b := make([]byte, r.Bytes)
		if err := s.Read(b, m.at+cuda.Address(r.From)); err != nil {
			return done, err
		}
		done.Read = append(done.Read, b)
	}
	return done, nil
}

// launch lays out a step's launch.
func (s *script) launch(f *cuda.Function, step *wire.Step) (*cuda.Launch, error) {
	if step.Shared > 0 {
		if err := f.Put(cuda.MaxDynamicShared, step.Shared); err != nil {
			return nil, fmt.Errorf("%d bytes of dynamic shared memory: %w", step.Shared, err)
		}
	}
	if step.CarveOut >= 0 {
		if err := f.Put(cuda.CarveOut, step.CarveOut); err != nil {
			return nil, fmt.Errorf("a carve-out of %d %%: %w", step.CarveOut, err)
		}
	}
	l := &cuda.Launch{Grid: [3]uint32{step.Grid, 1, 1}, Block: [3]uint32{step.Block, 1, 1}, Shared: step.Shared}
	for i := range step.Params {
		p := &step.Params[i]
		if p.Bytes != nil {
			l.Params = append(l.Params, p.Bytes)
			continue
		}
		m, err := s.at(p.Buffer)
		if err != nil {
			return nil, err
		}
		l.Params = append(l.Params, binary.LittleEndian.AppendUint64(nil, uint64(m.at)+uint64(p.Offset)))
	}
	return l, nil
}

func (s *script) at(i int) (place, error) {
	if i < 0 || i >= len(s.memory) {
		return place{}, fmt.Errorf("memory %d, of which there is none", i)
	}
	return s.memory[i], nil
}

// ready does what a step wants done before its launches.
func (s *script) ready(step *wire.Step) error {
	for _, i := range step.Zero {
		m, err := s.at(i)
		if err != nil {
			return err
		}
		if err := s.Set(m.at, 0, m.bytes/4, s.stream); err != nil {
			return err
		}
	}
	if p := step.Set; p != nil {
		at, size, err := s.module.Global(p.Name)
		if err != nil {
			return fmt.Errorf("variable %s: %w", p.Name, err)
		}
		if int64(len(p.Bytes)) > size {
			return fmt.Errorf("variable %s has %d bytes, and %d are given", p.Name, size, len(p.Bytes))
		}
		return s.Write(at, p.Bytes)
	}
	return nil
}
