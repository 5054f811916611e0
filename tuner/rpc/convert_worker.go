package rpc

import (
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/lease"
)

func fromHeld(h tuner.Held) *warptunev1.Lease {
	return &warptunev1.Lease{Sweep: h.Key.Sweep, Seq: h.Key.Seq, Token: h.Token}
}

func putHeld(m *warptunev1.Lease, h tuner.Held) *warptunev1.Lease {
	m.Sweep, m.Seq, m.Token = h.Key.Sweep, h.Key.Seq, h.Token
	return m
}

func toHeld(m *warptunev1.Lease) tuner.Held {
	return tuner.Held{Key: lease.Key{Sweep: m.GetSweep(), Seq: m.GetSeq()}, Token: m.GetToken()}
}

// maxSlots bounds what a worker may claim.
const maxSlots = 1 << 16

// toSync returns what a worker that presents a credential says; "": none is asked for.
func toSync(m *warptunev1.SynchronizeRequest, credential string) *tuner.Sync {
	w := m.GetWorker()
	s := &tuner.Sync{
		Worker: tuner.Worker{
			ID: tuner.WorkerID(w.GetId(), credential), Epoch: w.GetEpoch(), Slots: int(min(w.GetSlots(), maxSlots)), Engine: w.GetEngine(), Archs: w.GetArchs(), Labels: w.GetLabels(),
		},
		Want: int(min(max(m.GetWant(), 0), maxSlots)), Draining: m.GetDraining(), Leaves: m.GetLeaves(), Unfit: m.GetUnfit(),
	}
	s.Held, s.Reports = make([]tuner.Held, 0, len(m.GetHeld())), make([]tuner.Report, 0, len(m.GetReports()))
	for _, h := range m.GetHeld() {
		s.Held = append(s.Held, toHeld(h))
	}
	outcomes := make([]tuner.Outcome, len(m.GetReports()))
	for i, r := range m.GetReports() {
		report := tuner.Report{Held: toHeld(r.GetLease())}
		switch k := r.GetResult().(type) {
		case *warptunev1.Report_Outcome:
			outcomes[i] = toOutcome(k.Outcome)
			outcomes[i].Found = r.GetFound()
			report.Outcome = &outcomes[i]
		case *warptunev1.Report_Fault:
			report.Fault = k.Fault
		case *warptunev1.Report_Released:
			report.Released = k.Released
		}
		s.Reports = append(s.Reports, report)
	}
	return s
}

var ackStatuses = map[tuner.AckStatus]warptunev1.ReportStatus{
	tuner.Recorded:        warptunev1.ReportStatus_REPORT_STATUS_RECORDED,
	tuner.AlreadyRecorded: warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED,
	tuner.StaleToken:      warptunev1.ReportStatus_REPORT_STATUS_STALE,
	tuner.Dropped:         warptunev1.ReportStatus_REPORT_STATUS_DROPPED,
	tuner.Refused:         warptunev1.ReportStatus_REPORT_STATUS_REFUSED,
}

// particulars tells of a sweep by its number.
type particulars func(num uint64) (tuner.Sweep, bool)

// known is which sweeps' particulars a worker has: by their digests or, if it is
// of before there were any, by the sweeps' numbers.
type known struct {
	digests []string
	numbers []uint64
}

func toKnown(m *warptunev1.SynchronizeRequest) known {
	return known{m.GetKnownDigests(), m.GetKnownSweeps()}
}

// of returns what to tell of a sweep to a worker that knows so much; nil: nothing.
func (k known) of(s *tuner.Sweep) *warptunev1.SweepParticulars {
	digest := particularsDigest(s)
	if slices.Contains(k.digests, digest) {
		return &warptunev1.SweepParticulars{Sweep: s.Num, Digest: digest}
	}
	if slices.Contains(k.numbers, s.Num) {
		return nil
	}
	return &warptunev1.SweepParticulars{Sweep: s.Num, Id: s.ID, Spec: FromSpec(&s.Spec), Names: s.Names, Digest: digest}
}

// particularsDigest names a sweep's particulars: its identity is a digest of the
// spec, of which the bundle decides on the names.
func particularsDigest(s *tuner.Sweep) string {
	h := fnv.New64a()
	for _, name := range s.Names {
		_, _ = h.Write(append([]byte(name), 0))
	}
	return s.ID + "." + strconv.FormatUint(h.Sum64(), 16)
}

// fromReply returns a reply for the wire, with the particulars of the sweeps
// that its grants name and the worker does not know.
func fromReply(r *tuner.SyncReply, knows known, sweep particulars) *warptunev1.SynchronizeResponse {
	m := &warptunev1.SynchronizeResponse{NextMs: int64(r.Next / time.Millisecond), Finished: r.Finished}
	// Messages of one kind are made in one piece: they go together anyway.
	m.Acknowledgements = make([]*warptunev1.Acknowledgement, len(r.Acks))
	acks, leases := make([]warptunev1.Acknowledgement, len(r.Acks)), make([]warptunev1.Lease, len(r.Acks)+len(r.Grants))
	for i := range r.Acks {
		from, a := &r.Acks[i], &acks[i]
		a.Lease, a.Status, a.Message = putHeld(&leases[i], from.Held), ackStatuses[from.Status], from.Message
		m.Acknowledgements[i] = a
	}
	leases = leases[len(r.Acks):]
	told := map[uint64]bool{}
	values := 0
	for i := range r.Grants {
		values += len(r.Grants[i].Config.Values)
	}
	room := newValueRoom(values)
	m.Grants = make([]*warptunev1.Grant, len(r.Grants))
	grants := make([]warptunev1.Grant, len(r.Grants))
	for i := range r.Grants {
		g, to := &r.Grants[i], &grants[i]
		to.Lease, to.Index, to.Config, to.Attempt, to.Level = putHeld(&leases[i], g.Held), g.Index, room.from(g.Config.Values), int64(g.Attempt), g.Level
		m.Grants[i] = to
		if num := g.Key.Sweep; !told[num] {
			told[num] = true
			if s, ok := sweep(num); ok {
				if p := knows.of(&s); p != nil {
					m.Sweeps = append(m.Sweeps, p)
				}
			}
		}
	}
	for _, h := range r.Drops {
		m.Drops = append(m.Drops, fromHeld(h))
	}
	return m
}

func fromWorkerStatus(w *tuner.WorkerStatus) *warptunev1.WorkerStatus {
	return &warptunev1.WorkerStatus{
		Id: w.Worker.ID, Slots: int64(w.Worker.Slots), Engine: w.Worker.Engine, Held: int64(w.Held),
		Reported: w.Reported, SilentMs: w.Silent.Milliseconds(), Draining: w.Draining, Refused: w.Refused, Labels: w.Worker.Labels, SetAside: w.Aside,
	}
}
