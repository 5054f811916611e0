package worker

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// Bounds on one call.
const (
	maxReports = 1024             // reports sent at a time
	maxHeld    = 4096             // trials held at a time
	holdTime   = 20 * time.Second // how long an idle call asks to be held
	renewEvery = 5 * time.Second  // before a coordinator has said
	// gatherTime is how long reports are gathered while there is enough to
	// evaluate: a call and its commit cost the coordinator the same for many.
	gatherTime = time.Second
	// gatherShortly is that time once most of what there is is evaluated: others
	// may wait for what it says. It is not for what is left if that takes but a
	// moment.
	gatherShortly = 200 * time.Millisecond
	moment        = 10 * time.Millisecond
	gathered      = 64 // reports that are enough
)

// call is a Synchronize under way.
type call struct {
	cancel context.CancelFunc
	held   bool // it asked to be held until there is work
	drains bool // it said that the worker is draining
	sent   time.Time
}

// reply is what a call came to.
type reply struct {
	message *warptunev1.SynchronizeResponse
	err     error
}

// callIfDue begins a call when there is reason to: reports, free slots, or
// leases to renew. There is at most one at a time.
func (w *Worker) callIfDue(ctx context.Context) {
	if w.call != nil || (w.backoff > 0 && time.Now().Before(w.due)) {
		return
	}
	want, now := w.want(), time.Now()
	// Once it may leave, it asks for nothing: it is only here for an evaluation
	// that goes on though nobody wants its outcome any more.
	hungry := !w.draining && want > len(w.tasks) && !(w.finished && w.opts.Leave)
	if now.Before(w.due) && (!hungry && len(w.reports) == 0 || w.gathering(now)) {
		return
	}
	in := w.state(want)
	c := &call{sent: now, held: hungry && len(in.Reports) == 0, drains: w.draining}
	timeout := w.opts.CallTimeout
	if c.held {
		in.WaitMs = holdTime.Milliseconds()
		timeout += holdTime
	}
	ctx, c.cancel = context.WithTimeout(ctx, timeout)
	w.call = c
	w.due = time.Now().Add(timeout + time.Second)
	go func() {
		m, err := w.client.Synchronize(ctx, in)
		c.cancel()
		w.replies <- reply{m, err}
	}()
}

// gathering reports whether it does no harm to wait for more to report: no slot
// is about to be idle.
func (w *Worker) gathering(now time.Time) bool {
	return !w.draining && len(w.queue) > 0 && len(w.reports) < gathered && now.Before(w.gathers())
}

// gathers returns until when there may be more to report with the next call.
func (w *Worker) gathers() time.Time {
	if left := len(w.queue); len(w.reports) < left || w.pace.evaluation*time.Duration(left) < moment*time.Duration(w.opts.Slots) {
		return w.answered.Add(gatherTime)
	}
	return w.answered.Add(gatherShortly)
}

// state says what the worker is, holds and has finished.
func (w *Worker) state(want int) *warptunev1.SynchronizeRequest {
	w.outgrow()
	in := &warptunev1.SynchronizeRequest{
		Worker: w.identity, Want: int64(want), Draining: w.draining, Leaves: w.opts.Leave, Coordinator: w.coordinator,
		Reports: slices.Clone(w.reports[:min(len(w.reports), maxReports)]),
	}
	for _, t := range w.tasks {
		in.Held = append(in.Held, t.lease)
	}
	for _, r := range w.reports[len(in.Reports):] { // held until they are reported
		in.Held = append(in.Held, r.GetLease())
	}
	w.knows(in)
	return in
}

// renewNow makes the next call happen as soon as it can.
func (w *Worker) renewNow() { w.due = time.Time{} }

// answer takes what a call came to. An error is final.
func (w *Worker) answer(r reply) error {
	c := w.call
	w.call = nil
	if r.err != nil {
		return w.failed(c, r.err)
	}
	if w.backoff > 0 {
		w.log.Info("the coordinator answers", "spooled", len(w.reports))
	}
	w.backoff, w.refused, w.answered = 0, time.Time{}, time.Now()
	m := r.message
	if w.coordinator != m.GetCoordinator() {
		w.succeed(m.GetCoordinator(), m.GetFence())
	}
	if !c.held {
		w.pace.called(time.Since(c.sent))
	}
	w.told = c.drains
	w.acknowledge(m.GetAcknowledgements())
	w.adopt(m)
	w.finished = m.GetFinished()
	next := time.Duration(m.GetNextMs()) * time.Millisecond
	if next <= 0 {
		next = renewEvery
	}
	w.due = time.Now().Add(next)
	return nil
}

// failed sets the pause after a failed call, or says that it is no use to call
// again.
func (w *Worker) failed(c *call, err error) error {
	if c.held && rpc.Cancelled(err) {
		w.due = time.Time{} // we let it go ourselves
		return nil
	}
	err = rpc.FromStatus(err)
	switch tuner.KindOf(err) {
	case tuner.Mismatch, tuner.Invalid:
		return err
	case tuner.Denied, tuner.Unauthenticated:
		if w.answered.IsZero() { // whoever was welcome waits until it is so again
			return err
		}
	}
	if w.backoff == 0 {
		w.log.Warn("the coordinator does not answer; trying again", "error", err)
	}
	w.backoff = min(max(2*w.backoff, 50*time.Millisecond), w.opts.MaxBackoff)
	w.due = time.Now().Add(w.backoff/2 + rand.N(w.backoff/2+1))
	return nil
}

// want returns how many trials to hold so that slots never wait for a call.
func (w *Worker) want() int {
	if w.draining {
		return 0
	}
	if len(w.reports) > 2*maxReports {
		return len(w.tasks) // the coordinator is behind
	}
	return min(w.pace.want(w.opts.Slots), maxHeld)
}

// pace is how long evaluations and calls take, as decaying averages.
type pace struct{ evaluation, round time.Duration }

func (p *pace) evaluated(d time.Duration) { p.evaluation = average(p.evaluation, d) }
func (p *pace) called(d time.Duration)    { p.round = average(p.round, d) }

func average(old, d time.Duration) time.Duration {
	d = max(d, time.Microsecond)
	if old == 0 {
		return d
	}
	return old + (d-old)/8
}

// want returns the trials that slots use up in three rounds and while reports
// are gathered, and one for each slot; but never more than a minute of work
// beyond those.
func (p *pace) want(slots int) int {
	if p.evaluation == 0 || p.round == 0 {
		return slots
	}
	ahead := min(3*p.round+gatherTime, time.Minute)
	return slots + int((time.Duration(slots)*ahead+p.evaluation-1)/p.evaluation)
}
