// Package pagesource tells the page (tuner/page) what a coordinator knows, and explains configurations by the simulator.
package pagesource

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
)

// Source is a page.Source over a connection to a coordinator.
type Source struct {
	name string
	with With

	mu      sync.Mutex
	names   map[string][]string         // of a sweep's parameters, by its identity
	devices map[string]*arch.Descriptor // by descriptor digest
	kernels map[string]*kernel.Definition
}

// With calls f with a connection to the coordinator.
type With func(ctx context.Context, f func(grpc.ClientConnInterface) error) error

// Over is With of one connection.
func Over(conn grpc.ClientConnInterface) With {
	return func(_ context.Context, f func(grpc.ClientConnInterface) error) error { return f(conn) }
}

var _ page.Source = (*Source)(nil)

// New makes a source. The name says in words where it all comes from.
func New(name string, with With) *Source {
	return &Source{name: name, with: with, names: map[string][]string{}, devices: map[string]*arch.Descriptor{}, kernels: map[string]*kernel.Definition{}}
}

// Name is in page.Source.
func (s *Source) Name() string { return s.name }

// Engine is in page.Source.
func (s *Source) Engine() string { return simengine.Version() }

// ask calls the coordinator; what it answers comes back as an error of the domain.
func (s *Source) ask(ctx context.Context, f func(warptunev1.SweepServiceClient) error) error {
	return rpc.FromStatus(s.with(ctx, func(conn grpc.ClientConnInterface) error { return f(warptunev1.NewSweepServiceClient(conn)) }))
}

// Sweeps is in page.Source.
func (s *Source) Sweeps(ctx context.Context) (all []tuner.Sweep, damaged int, err error) {
	err = s.ask(ctx, func(c warptunev1.SweepServiceClient) error {
		all, damaged = nil, 0
		r := &warptunev1.ListRequest{}
		for {
			m, err := c.List(ctx, r)
			if err != nil {
				return err
			}
			for _, sweep := range m.GetSweeps() {
				all = append(all, rpc.ToSweep(sweep))
			}
			damaged += len(m.GetDamaged())
			if r.PageToken = m.GetNextPageToken(); r.PageToken == "" {
				return nil
			}
		}
	})
	for i := range all {
		if err == nil {
			err = s.fillNames(ctx, &all[i])
		}
	}
	return all, damaged, err
}

// Sweep is in page.Source.
func (s *Source) Sweep(ctx context.Context, id string) (sweep tuner.Sweep, err error) {
	err = s.ask(ctx, func(c warptunev1.SweepServiceClient) error {
		m, err := c.Get(ctx, &warptunev1.GetRequest{Id: id})
		if err == nil {
			sweep = rpc.ToSweep(m.GetSweep())
		}
		return err
	})
	if err == nil {
		err = s.fillNames(ctx, &sweep)
	}
	return sweep, err
}

// fillNames fills in the names of a sweep's parameters, which come with its results.
func (s *Source) fillNames(ctx context.Context, sweep *tuner.Sweep) error {
	if sweep.Best == nil {
		return nil
	}
	s.mu.Lock()
	sweep.Names = s.names[sweep.ID]
	s.mu.Unlock()
	if sweep.Names != nil {
		return nil
	}
	return s.Results(ctx, sweep.ID, sweep.Best.Seq, 1, nil, func(b *page.Batch) error {
		if len(b.Names) > 0 {
			sweep.Names = b.Names
			s.mu.Lock()
			s.names[sweep.ID] = b.Names
			s.mu.Unlock()
		}
		return nil
	})
}

// Workers is in page.Source.
func (s *Source) Workers(ctx context.Context) (all []tuner.WorkerStatus, err error) {
	err = s.ask(ctx, func(c warptunev1.SweepServiceClient) error {
		m, err := c.Workers(ctx, &warptunev1.WorkersRequest{})
		all = nil
		for _, w := range m.GetWorkers() {
			all = append(all, tuner.WorkerStatus{
				Worker: tuner.Worker{ID: w.GetId(), Slots: int(w.GetSlots()), Engine: w.GetEngine(), Labels: w.GetLabels()}, Held: int(w.GetHeld()), Reported: w.GetReported(),
				Silent: rpc.Milliseconds(w.GetSilentMs()), Draining: w.GetDraining(), Refused: w.GetRefused(), Aside: w.GetSetAside(),
			})
		}
		return err
	})
	return all, err
}

// Results is in page.Source.
func (s *Source) Results(ctx context.Context, id string, from, limit int64, metrics []string, take func(*page.Batch) error) error {
	return s.ask(ctx, func(c warptunev1.SweepServiceClient) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.Results(ctx, &warptunev1.ResultsRequest{Id: id, FromSeq: from, Limit: limit, Metrics: metrics})
		if err != nil {
			return err
		}
		for {
			m, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			b := page.Batch{Names: slices.Clone(m.GetNames()), Damaged: m.GetDamaged(), Results: make([]page.Result, len(m.GetResults()))}
			for i, r := range m.GetResults() {
				b.Results[i].Result, b.Results[i].Values = rpc.ToResult(r)
				b.Results[i].Level = r.GetLevel()
			}
			if err := take(&b); err != nil {
				return err
			}
		}
	})
}
