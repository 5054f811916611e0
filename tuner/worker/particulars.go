package worker

import (
	"maps"
	"slices"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/rpc"
)

// maxSweeps is how many sweeps a worker knows at least before it forgets those that
// it holds nothing of: it is told again of what it is granted more of.
const maxSweeps = 256

// learn notes which sweep a number stands for at the present coordinator. One that
// is known is told by its digest alone.
func (w *Worker) learn(m *warptunev1.SweepParticulars) {
	num, digest := m.GetSweep(), m.GetDigest()
	if m.GetSpec() == nil && digest != "" {
		if s := w.known[digest]; s != nil {
			w.sweeps[num] = s
		} else {
			delete(w.sweeps, num) // without particulars it is granted again, with them
		}
		return
	}
	s := &particulars{digest: digest, id: m.GetId(), spec: rpc.ToSpec(m.GetSpec()), names: m.GetNames()}
	if w.sweeps[num] = s; digest != "" {
		w.known[digest] = s
	}
}

// outgrow forgets sweeps of which nothing is held, when they are many.
func (w *Worker) outgrow() {
	if max(len(w.sweeps), len(w.known)) <= maxSweeps {
		return
	}
	held := map[*particulars]bool{}
	for _, t := range w.tasks {
		held[t.sweep] = true
	}
	maps.DeleteFunc(w.sweeps, func(_ uint64, s *particulars) bool { return !held[s] })
	maps.DeleteFunc(w.known, func(_ string, s *particulars) bool { return !held[s] })
}

// knows says in a request which sweeps are known, and which the worker cannot
// evaluate for.
func (w *Worker) knows(in *warptunev1.SynchronizeRequest) {
	for digest := range w.known {
		in.KnownDigests = append(in.KnownDigests, digest)
	}
	for num, s := range w.sweeps {
		if s.digest == "" {
			in.KnownSweeps = append(in.KnownSweeps, num)
		}
		if s.unfit != "" {
			if in.Unfit == nil {
				in.Unfit = map[uint64]string{}
			}
			in.Unfit[num] = s.unfit
		}
	}
}

// succeed takes it that another coordinator answers: the same store after a start,
// its older copy, or another store. Only leases up to the fence are its own. Numbers
// of sweeps are void; what is known of sweeps is not, since it goes by digests.
func (w *Worker) succeed(name string, fence uint64) {
	held, spooled := len(w.tasks), len(w.reports)
	for key := range w.tasks {
		if key.token > fence {
			w.drop(key)
		}
	}
	w.queue = slices.DeleteFunc(w.queue, func(t *task) bool { return t.over })
	w.reports = slices.DeleteFunc(w.reports, func(r *warptunev1.Report) bool { return r.GetLease().GetToken() > fence })
	clear(w.sweeps)
	w.newest, w.coordinator = min(w.newest, fence), name
	if held -= len(w.tasks); held > 0 || spooled > len(w.reports) {
		w.log.Warn("the coordinator has another store, or an older copy: dropping what it knows nothing of", "held", held, "spooled", spooled-len(w.reports))
	}
}
