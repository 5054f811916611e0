package rpc

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
)

// watchInterval is the least time between two states that Watch sends.
const watchInterval = 250 * time.Millisecond

// pageResults is how many results one message of Results carries.
const pageResults = 500

// sweepService serves SweepService.
type sweepService struct {
	warptunev1.UnimplementedSweepServiceServer
	c *coordinator.Coordinator
	// maxBundle is the most bytes of a bundle that are read.
	maxBundle int
	receiving atomic.Int64 // bytes of bundles that are being received
}

// maxReceiving is how much memory bundles take that are being received, and
// receiveTime how long one may take.
const (
	maxReceiving = 4 * maxBundle
	receiveTime  = 10 * time.Minute
)

// PutBundle is in SweepService.
func (s *sweepService) PutBundle(stream warptunev1.SweepService_PutBundleServer) error {
	var digest string
	var content []byte
	defer func() { s.receiving.Add(-int64(len(content))) }()
	late := time.Now().Add(receiveTime)
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if digest == "" {
			digest = m.GetDigest()
			if s.c.HasBundle(digest) {
				return stream.SendAndClose(&warptunev1.PutBundleResponse{})
			}
		}
		if len(content)+len(m.GetChunk()) > s.maxBundle {
			return ToStatus(tuner.Errorf(tuner.Limit, "put bundle", "it has more than %d bytes", s.maxBundle))
		}
		if time.Now().After(late) {
			return ToStatus(tuner.Errorf(tuner.Limit, "put bundle", "it takes longer than %v", receiveTime))
		}
		if n := int64(len(m.GetChunk())); s.receiving.Add(n) > maxReceiving {
			s.receiving.Add(-n)
			return ToStatus(tuner.Errorf(tuner.Limit, "put bundle", "bundles of more than %d bytes are being sent at a time: try again later", maxReceiving))
		}
		content = append(content, m.GetChunk()...)
	}
	if err := s.c.PutBundle(calling(stream.Context()), digest, content); err != nil {
		return ToStatus(err)
	}
	return stream.SendAndClose(&warptunev1.PutBundleResponse{})
}

// Submit is in SweepService.
func (s *sweepService) Submit(ctx context.Context, m *warptunev1.SubmitRequest) (*warptunev1.SubmitResponse, error) {
	out, err := s.c.Submit(calling(ctx), ToSpec(m.GetSpec()), m.GetKey())
	if err != nil {
		return nil, ToStatus(err)
	}
	return &warptunev1.SubmitResponse{Sweep: FromSweep(&out.Sweep), Created: out.Created, Resumed: out.Resumed}, nil
}

// Get is in SweepService.
func (s *sweepService) Get(ctx context.Context, m *warptunev1.GetRequest) (*warptunev1.GetResponse, error) {
	sweep, err := s.c.Sweep(ctx, m.GetId())
	if err != nil {
		return nil, ToStatus(err)
	}
	return &warptunev1.GetResponse{Sweep: FromSweep(&sweep)}, nil
}

// Watch is in SweepService.
func (s *sweepService) Watch(m *warptunev1.WatchRequest, stream warptunev1.SweepService_WatchServer) error {
	ctx, id := stream.Context(), m.GetId()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for version := uint64(0); ; {
		sweep, v, err := s.c.Watch(ctx, id, version)
		if err != nil {
			return ToStatus(err)
		}
		version, id = v, sweep.ID
		if err := stream.Send(&warptunev1.WatchResponse{Sweep: FromSweep(&sweep)}); err != nil {
			return err
		}
		if !sweep.State.Live() {
			return nil
		}
		pause.Reset(watchInterval)
		select {
		case <-pause.C:
		case <-ctx.Done():
			return ToStatus(ctx.Err())
		}
	}
}

func (s *sweepService) steer(ctx context.Context, id string, to tuner.SweepState) (*warptunev1.Sweep, error) {
	sweep, err := s.c.Steer(calling(ctx), id, to)
	if err != nil {
		return nil, ToStatus(err)
	}
	return FromSweep(&sweep), nil
}

// Pause is in SweepService.
func (s *sweepService) Pause(ctx context.Context, m *warptunev1.PauseRequest) (*warptunev1.PauseResponse, error) {
	sweep, err := s.steer(ctx, m.GetId(), tuner.Paused)
	return &warptunev1.PauseResponse{Sweep: sweep}, err
}

// Resume is in SweepService.
func (s *sweepService) Resume(ctx context.Context, m *warptunev1.ResumeRequest) (*warptunev1.ResumeResponse, error) {
	sweep, err := s.steer(ctx, m.GetId(), tuner.Running)
	return &warptunev1.ResumeResponse{Sweep: sweep}, err
}

// Retry is in SweepService.
func (s *sweepService) Retry(ctx context.Context, m *warptunev1.RetryRequest) (*warptunev1.RetryResponse, error) {
	sweep, err := s.c.Retry(calling(ctx), m.GetId())
	if err != nil {
		return nil, ToStatus(err)
	}
	return &warptunev1.RetryResponse{Sweep: FromSweep(&sweep)}, nil
}

// Cancel is in SweepService.
func (s *sweepService) Cancel(ctx context.Context, m *warptunev1.CancelRequest) (*warptunev1.CancelResponse, error) {
	sweep, err := s.steer(ctx, m.GetId(), tuner.Cancelled)
	return &warptunev1.CancelResponse{Sweep: sweep}, err
}

// Delete is in SweepService.
func (s *sweepService) Delete(ctx context.Context, m *warptunev1.DeleteRequest) (*warptunev1.DeleteResponse, error) {
	return &warptunev1.DeleteResponse{}, ToStatus(s.c.Delete(calling(ctx), m.GetId()))
}

// Best is in SweepService.
func (s *sweepService) Best(ctx context.Context, m *warptunev1.BestRequest) (*warptunev1.BestResponse, error) {
	best, err := s.c.Best(ctx, coordinator.BestQuery{
		Kernel: m.GetKernel(), Arch: m.GetArch(), ArchDigest: m.GetArchDigest(), Problem: m.GetProblem(), Similar: m.GetSimilar(),
		Bundle: m.GetBundle(), Parts: m.GetParts(),
	})
	if err != nil {
		return nil, ToStatus(err)
	}
	return &warptunev1.BestResponse{
		Match: warptunev1.BestMatch(best.Match), Spec: FromSpec(&best.Spec), Result: FromResult(&best.Result, best.Values, best.Spec.LastLevel()),
		Names: best.Names, Sweep: best.ID, Confirmed: best.Confirmed && best.Independent, ConfirmedWithin: best.Confirmed && !best.Independent, Changed: best.Changed, Missing: best.Missing, Damaged: best.Damaged,
	}, nil
}

// Top is in SweepService.
func (s *sweepService) Top(ctx context.Context, m *warptunev1.TopRequest) (*warptunev1.TopResponse, error) {
	sweep, err := s.c.Sweep(ctx, m.GetId())
	if err != nil {
		return nil, ToStatus(err)
	}
	n := int(m.GetCount())
	if n <= 0 {
		n = 10
	}
	top, lost, err := s.c.Top(ctx, sweep.ID, n)
	if err != nil {
		return nil, ToStatus(err)
	}
	rows, err := s.withConfigs(ctx, &sweep, top)
	return &warptunev1.TopResponse{Names: sweep.Names, Results: rows, Damaged: lost[:min(len(lost), mostDamaged)], DamagedRows: int64(len(lost))}, ToStatus(err)
}

// Results is in SweepService. Pages are read one by one, so that a slow reader
// holds nothing open.
func (s *sweepService) Results(m *warptunev1.ResultsRequest, stream warptunev1.SweepService_ResultsServer) error {
	ctx := stream.Context()
	sweep, err := s.c.Sweep(ctx, m.GetId())
	if err != nil {
		return ToStatus(err)
	}
	left := m.GetLimit()
	if left <= 0 {
		left = 1 << 62
	}
	page := &warptunev1.ResultsResponse{Names: sweep.Names, Spec: FromSpec(&sweep.Spec)}
	for seq, first := m.GetFromSeq(), true; left > 0; first = false {
		results, lost, err := s.c.Results(ctx, sweep.Num, seq, int(min(left, pageResults)))
		if err != nil {
			return ToStatus(err)
		}
		page.Damaged = lost
		if len(results)+len(lost) == 0 && !first {
			return nil
		}
		if only := m.GetMetrics(); len(only) > 0 {
			for i := range results {
				results[i].Outcome.Metrics = chosen(results[i].Outcome.Metrics, only)
			}
		}
		if page.Results, err = s.withConfigs(ctx, &sweep, results); err != nil {
			return ToStatus(err)
		}
		if err := stream.Send(page); err != nil {
			return err
		}
		if len(results)+len(lost) == 0 {
			return nil
		}
		seq, left = coordinator.After(results, lost), left-int64(len(results)+len(lost))
		page = &warptunev1.ResultsResponse{}
	}
	return nil
}

// chosen are those metrics that are asked for.
func chosen(all map[string]float64, names []string) map[string]float64 {
	some := make(map[string]float64, min(len(all), len(names)))
	for _, name := range names {
		if v, ok := all[name]; ok {
			some[name] = v
		}
	}
	return some
}

// mostDamaged is how many damaged trials TopResponse names.
const mostDamaged = 1000

// withConfigs returns results with their configurations for the wire.
func (s *sweepService) withConfigs(ctx context.Context, sweep *tuner.Sweep, results []tuner.Result) ([]*warptunev1.Result, error) {
	if len(results) == 0 {
		return nil, nil
	}
	space, err := s.c.Space(ctx, sweep.Num)
	if err != nil {
		return nil, err
	}
	rows := make([]*warptunev1.Result, len(results))
	for i := range results {
		var values []search.Value
		if results[i].Index < space.Size() {
			values = space.At(results[i].Index).Values
		}
		rows[i] = FromResult(&results[i], values, sweep.LevelOf(results[i].Seq))
	}
	return rows, nil
}

// Descriptor is in SweepService.
func (s *sweepService) Descriptor(ctx context.Context, m *warptunev1.DescriptorRequest) (*warptunev1.DescriptorResponse, error) {
	text, err := s.c.Descriptor(ctx, m.GetId())
	return &warptunev1.DescriptorResponse{Text: text}, ToStatus(err)
}

// Workers is in SweepService.
func (s *sweepService) Workers(ctx context.Context, _ *warptunev1.WorkersRequest) (*warptunev1.WorkersResponse, error) {
	out := &warptunev1.WorkersResponse{}
	for _, w := range s.c.Workers(ctx) {
		out.Workers = append(out.Workers, fromWorkerStatus(&w))
	}
	return out, nil
}
