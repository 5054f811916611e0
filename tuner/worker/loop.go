package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// start starts queued tasks while slots are free.
func (w *Worker) start(ctx context.Context) {
	for w.running < w.opts.Slots && len(w.queue) > 0 {
		t := w.queue[0]
		w.queue = w.queue[1:]
		if t.over {
			continue // dropped since
		}
		t.slot, t.ahead = w.freeSlot(ctx), w.ahead(t)
		if w.running++; w.running > w.runners {
			w.runners++
			go w.run()
		}
		w.started <- t
	}
}

// maxAhead is how many configurations a question has ahead.
const maxAhead = 64

// ahead returns the configurations of what waits that a task's question has
// ahead: those of its kind, unless an earlier question had the task's ahead, and
// so theirs.
func (w *Worker) ahead(t *task) []search.Config {
	if t.told || t.again {
		return nil
	}
	all := make([]search.Config, 0, min(len(w.queue), maxAhead))
	for _, next := range w.queue {
		if len(all) == maxAhead {
			break
		}
		if next.sweep == t.sweep && next.level == t.level && !next.again && !next.told && !next.over {
			next.told = true
			all = append(all, next.config())
		}
	}
	return all
}

// freeSlot takes a slot that no task is in.
func (w *Worker) freeSlot(ctx context.Context) *slot {
	if n := len(w.slots); n > 0 {
		s := w.slots[n-1]
		w.slots = w.slots[:n-1]
		return s
	}
	s := &slot{}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// run evaluates one started task after another, until there are no more.
func (w *Worker) run() {
	for t := range w.started {
		w.evaluate(t)
		w.results <- t
	}
}

// evaluate evaluates one task and notes what it came to.
func (w *Worker) evaluate(t *task) {
	ctx := t.slot.ctx
	q := t.question()
	content, err := w.bundles.get(ctx, q.Spec.Bundle)
	if err == nil && q.Spec.Descriptor != "" {
		q.Descriptor, err = w.bundles.get(ctx, q.Spec.Descriptor)
	}
	begun := time.Now()
	if err == nil {
		t.outcome, err = w.opts.Evaluator.Evaluate(ctx, q, content)
	}
	t.err, t.took = err, time.Since(begun)
}

// takeMore takes what else has been finished, and starts what waits, for as
// long as a call is under way that no call can be due beside.
func (w *Worker) takeMore(ctx context.Context) {
	for w.call != nil && len(w.replies) == 0 {
		w.start(ctx)
		select {
		case t := <-w.results:
			w.take(t)
		default:
			return
		}
	}
}

// take turns what an evaluation came to into a report.
func (w *Worker) take(t *task) {
	w.running--
	if t.slot.ctx.Err() == nil {
		w.slots = append(w.slots, t.slot)
	}
	if t.over {
		return // dropped or returned since
	}
	t.over = true
	delete(w.tasks, keyOf(t.lease))
	if tuner.KindOf(t.err) == tuner.Mismatch {
		w.lacks(t)
	} else {
		w.reports = append(w.reports, t.report())
	}
	if t.err == nil {
		w.pace.evaluated(t.took)
	}
	if w.call != nil && w.call.held {
		w.call.cancel() // it holds up the report
	}
}

// lacks notes that the worker cannot evaluate for a task's sweep, and returns the
// task and what waits of that sweep: another worker may.
func (w *Worker) lacks(t *task) {
	t.sweep.unfit = tuner.Clip(t.err.Error(), tuner.MaxMessage)
	w.release(t)
	for _, next := range w.queue {
		if next.sweep == t.sweep && !next.over {
			w.release(next)
		}
	}
}

// report says what evaluating the task came to.
func (t *task) report() *warptunev1.Report {
	if t.err != nil {
		return &warptunev1.Report{Lease: t.lease, Result: &warptunev1.Report_Fault{Fault: tuner.Clip(t.err.Error(), tuner.MaxMessage)}}
	}
	var m struct { // in one piece: they go together anyway
		report  warptunev1.Report
		outcome warptunev1.Outcome
		result  warptunev1.Report_Outcome
	}
	t.outcome.Message = tuner.Clip(t.outcome.Message, tuner.MaxMessage)
	rpc.PutOutcome(&m.outcome, &t.outcome)
	m.result.Outcome = &m.outcome
	m.report.Lease, m.report.Result, m.report.Found = t.lease, &m.result, t.outcome.Found
	return &m.report
}

// adopt takes granted trials in hand.
func (w *Worker) adopt(m *warptunev1.SynchronizeResponse) {
	for _, s := range m.GetSweeps() {
		w.learn(s)
	}
	newest := w.newest
	for _, g := range m.GetGrants() {
		key := keyOf(g.GetLease())
		s := w.sweeps[key.sweep]
		if s == nil {
			continue // without particulars it is granted again, with them
		}
		if key.token <= newest && (w.tasks[key] != nil || w.reported(key)) {
			continue
		}
		w.newest = max(w.newest, key.token)
		trial, again := tuner.TrialOf(key.seq)
		t := &task{
			lease: g.GetLease(), sweep: s, seq: trial, again: again, index: g.GetIndex(), values: rpc.ToValues(g.GetConfig()), level: g.GetLevel(),
		}
		if w.draining {
			w.release(t)
			continue
		}
		if s.unfit != "" { // it was granted before that was known
			t.over, t.err = true, errors.New(s.unfit)
			w.reports = append(w.reports, t.report())
			continue
		}
		w.tasks[key] = t
		w.queue = append(w.queue, t)
	}
	for _, l := range m.GetDrops() {
		w.drop(keyOf(l))
	}
}

// drop stops a task without a report.
func (w *Worker) drop(key leaseKey) {
	t := w.tasks[key]
	if t == nil {
		return
	}
	t.over = true
	delete(w.tasks, key)
	if t.slot != nil {
		t.slot.cancel()
	}
	w.log.Debug("dropped a trial", "sweep", t.sweep.id, "trial", t.seq)
}

// reported says whether a trial is finished and not acknowledged.
func (w *Worker) reported(key leaseKey) bool {
	return slices.ContainsFunc(w.reports, func(r *warptunev1.Report) bool { return keyOf(r.GetLease()) == key })
}

// acknowledge forgets reports that the coordinator has dealt with.
func (w *Worker) acknowledge(acks []*warptunev1.Acknowledgement) {
	for _, a := range acks {
		switch a.GetStatus() {
		case warptunev1.ReportStatus_REPORT_STATUS_RECORDED, warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED:
		default:
			w.log.Warn("report not recorded", "sweep", w.sweepID(a.GetLease().GetSweep()), "trial", a.GetLease().GetSeq(), "status", a.GetStatus().String(), "reason", a.GetMessage())
		}
	}
	kept := w.reports[:0]
	for _, r := range w.reports {
		if len(acks) > 0 && keyOf(acks[0].GetLease()) == keyOf(r.GetLease()) { // in the order of the reports
			acks = acks[1:]
		} else {
			kept = append(kept, r)
		}
	}
	clear(w.reports[len(kept):])
	w.reports = kept
	done := make(map[leaseKey]bool, len(acks)) // those in another order
	for _, a := range acks {
		done[keyOf(a.GetLease())] = true
	}
	if len(done) > 0 {
		w.reports = slices.DeleteFunc(w.reports, func(r *warptunev1.Report) bool { return done[keyOf(r.GetLease())] })
	}
}

// sweepID is the identity of a sweep, for messages.
func (w *Worker) sweepID(num uint64) string {
	if s := w.sweeps[num]; s != nil {
		return s.id
	}
	return ""
}
