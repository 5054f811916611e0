package rpc

import (
	"context"
	"strings"
	"time"
	"unicode"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc/intake"
)

// Limits on one message of a worker.
const (
	maxReports = 4096
	maxHeld    = 4096
	maxArchs   = 256
	maxKnown   = 4096
	maxLookup  = 1024
	// maxIdentity is the most bytes of what a worker says of itself, which is kept
	// for as long as it is heard of; ours say some 2 KiB.
	maxIdentity = 16 << 10
	// chunkBytes is the size of the pieces in which bundles travel.
	chunkBytes = 256 << 10
)

// workerService serves WorkerService.
type workerService struct {
	warptunev1.UnimplementedWorkerServiceServer
	c    *coordinator.Coordinator
	gate *intake.Gate
}

// Synchronize is in WorkerService.
func (s *workerService) Synchronize(ctx context.Context, m *warptunev1.SynchronizeRequest) (*warptunev1.SynchronizeResponse, error) {
	if err := checkSynchronize(m); err != nil {
		return nil, ToStatus(err)
	}
	who, _ := Caller(ctx)
	in, knows, fence := toSync(m, who.Name), toKnown(m), uint64(0)
	if named := m.GetCoordinator(); named != "" && named != s.c.Incarnation() {
		// Its numbers of sweeps may stand for others here, and so may tokens
		// beyond the fence: it drops those too.
		fence = s.c.Fence(named)
		if err := s.c.Foreign(ctx, in.Worker.ID, named); err != nil {
			return nil, ToStatus(err)
		}
		in.Below(fence)
		in.Unfit, knows.numbers = nil, nil
	}
	reply, err := s.c.Synchronize(ctx, in, time.Duration(min(max(m.GetWaitMs(), 0), 1<<30))*time.Millisecond)
	if err != nil {
		return nil, ToStatus(err)
	}
	if reply.Unanswered {
		intake.LeavePlace(ctx)
		s.c.Linger(ctx)
	}
	defer s.gate.Enter(len(reply.Acks)+len(reply.Grants) > intake.LongResponse)()
	out := fromReply(reply, knows, s.c.Number)
	out.TimeMs, out.Coordinator, out.Fence = s.c.Now().UnixMilli(), s.c.Incarnation(), fence
	return out, nil
}

func checkSynchronize(m *warptunev1.SynchronizeRequest) error {
	const op = "synchronize"
	w := m.GetWorker()
	switch {
	case len(m.GetReports()) > maxReports:
		return tuner.Errorf(tuner.Limit, op, "%d reports in one call, at most %d", len(m.GetReports()), maxReports)
	case len(m.GetHeld()) > maxHeld:
		return tuner.Errorf(tuner.Limit, op, "%d held leases in one call, at most %d", len(m.GetHeld()), maxHeld)
	case len(m.GetKnownSweeps()) > maxKnown || len(m.GetKnownDigests()) > maxKnown || len(m.GetUnfit()) > maxKnown || len(w.GetArchs()) > maxArchs || len(w.GetLabels()) > maxArchs:
		return tuner.Errorf(tuner.Limit, op, "too many known sweeps, architectures or labels")
	case w.GetId() == "" || len(w.GetId()) > 256 || len(w.GetEngine()) > 256:
		return tuner.Errorf(tuner.Invalid, op, "a worker needs a name and an engine version of at most 256 bytes")
	case strings.ContainsFunc(w.GetId()+w.GetEngine(), unicode.IsControl):
		return tuner.Errorf(tuner.Invalid, op, "a worker's name and engine version have no control characters, got %q and %q", w.GetId(), w.GetEngine())
	case identityBytes(w) > maxIdentity:
		return tuner.Errorf(tuner.Limit, op, "worker %s says more than %d bytes of itself", w.GetId(), maxIdentity)
	case w.GetSlots() < 1:
		return tuner.Errorf(tuner.Invalid, op, "worker %s has %d slots, it needs at least one", w.GetId(), w.GetSlots())
	}
	return nil
}

func identityBytes(w *warptunev1.WorkerIdentity) int {
	n := 0
	for _, said := range []map[string]string{w.GetArchs(), w.GetLabels()} {
		for k, v := range said {
			n += len(k) + len(v)
		}
	}
	return n
}

// GetBundle is in WorkerService.
func (s *workerService) GetBundle(m *warptunev1.GetBundleRequest, stream warptunev1.WorkerService_GetBundleServer) error {
	content, release, err := s.c.Bundle(stream.Context(), m.GetDigest())
	if err != nil {
		return ToStatus(err)
	}
	defer release()
	for first := true; first || len(content) > 0; first = false {
		n := min(len(content), chunkBytes)
		if err := stream.Send(&warptunev1.GetBundleResponse{Chunk: content[:n]}); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// Lookup is in WorkerService.
func (s *workerService) Lookup(ctx context.Context, m *warptunev1.LookupRequest) (*warptunev1.LookupResponse, error) {
	if len(m.GetDigests()) > maxLookup {
		return nil, ToStatus(tuner.Errorf(tuner.Limit, "look up", "%d digests in one call, at most %d", len(m.GetDigests()), maxLookup))
	}
	out := &warptunev1.LookupResponse{}
	for _, digest := range m.GetDigests() {
		o, _, err := s.c.Lookup(ctx, digest)
		if err != nil {
			return nil, ToStatus(err)
		}
		out.Outcomes = append(out.Outcomes, FromOutcome(&o))
	}
	return out, nil
}
