package clock

import (
	"github.com/warptune/warptune/simengine/trace"
)

// atCluster is an arrival at the barrier of the cluster, or a wait for it. The other CTAs do as this one does. A warp
// whose arrival releases what it wrote stands still until that is done, as at a fence: cluster_norm's warps stand half of
// their time at one (shared/hopper h100/counters.jsonl.gz: stalled_membar).
func (s *sm) atCluster(w *warp, o *op, fetch int64) (at int64, h hold) {
	b := &s.ctas[w.cta].cluster
	if o.arrives {
		w.clusterPhase = b.Phases
		b.Pending++
		at := s.now
		if !o.relaxed {
			if w.sent > 0 {
				at = max(at, w.sent+s.m.LatL2)
			}
			at += int64(float64(max(s.m.ClusterRelease-s.m.ClusterBarrier, 0)) * s.releaseTimes)
		}
		b.Last = max(b.Last, at+s.m.ClusterBarrier)
		s.completeCluster(w.cta)
		return max(fetch, at), holdNone
	}
	if b.Phases == w.clusterPhase {
		w.holdOn = 0
		return fetch, holdCluster
	}
	return max(fetch, b.Done), holdNone
}

// completeCluster ends a phase of the cluster's barrier if all warps that have not exited have arrived.
func (s *sm) completeCluster(slot int32) {
	c := &s.ctas[slot]
	b := &c.cluster
	if b.Pending == 0 || b.Pending < int64(c.alive) {
		return
	}
	b.End()
	if c.loaded {
		b.Done += s.apart
		c.loaded = false
	}
	s.wakeUp(slot, holdCluster, 0, b.Done)
}

// remoteShared is a request to the shared memory of other CTAs of the cluster. It leaves when the way there is free.
func (s *sm) remoteShared(o *op, a *trace.Access, at int64) (begin, result int64) {
	begin, _ = s.lsu.Serve(at, max(int64(max(a.Passes, 1))*s.m.SharedPass, s.m.Addressing))
	begin, end := s.network.Serve(begin, s.m.RemoteShared(o.class, a, s.in.Cluster))
	return begin, max(begin+s.m.ClusterLoad, end)
}
