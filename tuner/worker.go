package tuner

import (
	"strconv"
	"strings"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/lease"
)

// Worker is what a worker says of itself.
type Worker struct {
	ID     string // see WorkerID
	Epoch  uint64 // drawn at random by each process
	Slots  int    // evaluations at a time
	Engine string // version of its simulator
	// Archs are the descriptors it has: name to digest.
	Archs  map[string]string
	Labels map[string]string
}

// Session names one process of a worker: two copies of a worker differ in it.
// Whoever knows it can report in the worker's place, so it is in nothing that
// others are told.
func (w *Worker) Session() string { return w.ID + "/" + strconv.FormatUint(w.Epoch, 16) }

// workerOf returns the worker that a session is of.
func workerOf(session string) string { return session[:max(0, strings.LastIndexByte(session, '/'))] }

// Held is a lease that a worker says it holds.
type Held struct {
	Key   lease.Key
	Token uint64
}

// Report is what a worker says became of a trial. Exactly one of Outcome,
// Fault and Released is set.
type Report struct {
	Held
	Outcome  *Outcome
	Fault    string // the worker's own fault
	Released bool   // returned untouched
	// By is who evaluated, if the worker found the outcome stored; "": itself.
	By string
	// Reused says that the outcome found is stored as one of another sweep.
	Reused bool
}

// Sync is the state of a worker.
type Sync struct {
	Worker   Worker
	Held     []Held   // not finished
	Reports  []Report // finished and not acknowledged
	Want     int      // trials it wants to hold in all
	Draining bool     // it takes no more
	Leaves   bool     // it leaves when every sweep has ended
	// Unfit are sweeps, by number, that the worker cannot evaluate for, for want
	// of a compiler, say: why.
	Unfit map[uint64]string
}

// AckStatus says what became of a report. The zero value is invalid.
type AckStatus uint8

// What becomes of a report.
const (
	AckInvalid      AckStatus = iota
	Recorded                  // it is stored
	AlreadyRecorded           // the trial had ended already
	StaleToken                // the trial was given to another since
	Dropped                   // the sweep has ended or is unknown
	Refused                   // it makes no sense
)

// String returns the status' name.
func (s AckStatus) String() string {
	return [...]string{"invalid", "recorded", "already recorded", "stale", "dropped", "refused"}[s%6]
}

// Ack answers a report.
type Ack struct {
	Held
	Status  AckStatus
	Message string // why it was not recorded
}

// Grant gives a worker a trial.
type Grant struct {
	Held
	Index   int64
	Config  search.Config
	Attempt int // how many times it was granted, this one included
	// Level is the level to evaluate it at; "": the spec's.
	Level string
}

// SyncReply is what a worker should hold.
type SyncReply struct {
	Acks   []Ack
	Grants []Grant
	Drops  []Held        // to stop: not the worker's any more
	Next   time.Duration // call again within
	// Unanswered says that there were reports on sweeps that the ledger awaits:
	// they must come again.
	Unanswered bool
	// Finished says that every sweep has ended, and that there was one.
	Finished bool
}

// Idle reports whether the reply says nothing.
func (r *SyncReply) Idle() bool { return len(r.Acks)+len(r.Grants)+len(r.Drops) == 0 }

// WorkerStatus is a worker as the ledger sees it.
type WorkerStatus struct {
	Worker   Worker
	Held     int
	Reported int64 // reports taken in this session
	Silent   time.Duration
	Draining bool
	Refused  string // why it is given nothing of some sweep
	Aside    string // why it is set aside; "": it is not
}

// session is a worker process the ledger has heard of.
type session struct {
	worker   Worker
	name     string
	seen     time.Time
	draining bool
	refused  string
	unfit    map[uint64]string // Sync.Unfit, of live sweeps
	reported int64
	// evaluated is how many trials it has evaluated itself.
	evaluated int64
	blames    []blame // since it was lost, if it was
	// last is when it last reported an outcome, by the ledger's awake time.
	last time.Duration
	// putBack is when it was last put back after it had been set aside.
	putBack time.Time
}

// Measures reports whether the worker times configurations on a GPU.
func (w *Worker) Measures() bool { return strings.HasPrefix(w.Engine, MeasuringEngine) }

// has reports whether the worker has all of some labels.
func (w *Worker) has(labels map[string]string) bool {
	for name, value := range labels {
		if w.Labels[name] != value {
			return false
		}
	}
	return true
}

// suits says whether the worker can evaluate for a spec. An error names what
// differs; a worker that merely lacks the architecture gets neither.
func (w *Worker) suits(s *Spec) (bool, error) {
	const op = "match worker"
	if s.Measured() != w.Measures() || !w.has(s.On) {
		return false, nil
	}
	digest, has := w.Archs[s.Arch]
	if s.Descriptor != "" {
		digest, has = s.ArchDigest, true // it is sent
	}
	switch {
	case !has:
		return false, nil
	case w.Engine != s.Engine:
		return false, Errorf(Mismatch, op, "worker %s has engine %q, the sweep of %s wants %q: start a worker of that version, or submit the sweep anew", w.ID, w.Engine, s.Kernel, s.Engine)
	case digest != s.ArchDigest:
		return false, Errorf(Mismatch, op, "worker %s has descriptor %s with digest %s, the sweep of %s wants %s: start a worker of that version, or submit the sweep anew", w.ID, s.Arch, digest, s.Kernel, s.ArchDigest)
	}
	return true, nil
}
