package worker

import (
	"context"
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
		if w.tasks[keyOf(t.lease)] != t {
			continue // dropped since
		}
		var taskCtx context.Context
		taskCtx, t.cancel = context.WithCancel(ctx)
		if w.running++; w.running > w.runners {
			w.runners++
			go w.run()
		}
		w.started <- started{taskCtx, t}
	}
}

// run evaluates one started task after another, until there are no more.
func (w *Worker) run() {
	for s := range w.started {
		w.results <- w.evaluate(s.ctx, s.task)
	}
}

// evaluate evaluates one task and returns what it came to.
func (w *Worker) evaluate(ctx context.Context, t *task) finished {
	defer t.cancel()
	f := finished{task: t}
	content, err := w.bundles.get(ctx, t.question.Spec.Bundle)
	begun := time.Now()
	if err == nil {
		f.outcome, err = w.opts.Evaluator.Evaluate(ctx, t.question, content)
	}
	f.err, f.took = err, time.Since(begun)
	return f
}

// takeMore takes what else has been finished, and starts what waits, for as
// long as a call is under way that no call can be due beside.
func (w *Worker) takeMore(ctx context.Context) {
	for w.call != nil && len(w.replies) == 0 {
		w.start(ctx)
		select {
		case f := <-w.results:
			w.take(f)
		default:
			return
		}
	}
}

// take turns what an evaluation came to into a report.
func (w *Worker) take(f finished) {
	w.running--
	key := keyOf(f.task.lease)
	if w.tasks[key] != f.task {
		return // dropped or returned since
	}
	delete(w.tasks, key)
	report := &warptunev1.Report{Lease: f.task.lease}
	if f.err != nil {
		report.Result = &warptunev1.Report_Fault{Fault: clip(f.err.Error())}
	} else {
		w.pace.evaluated(f.took)
		f.outcome.Message = clip(f.outcome.Message)
		report.Result = &warptunev1.Report_Outcome{Outcome: rpc.FromOutcome(&f.outcome)}
	}
	w.reports = append(w.reports, report)
	if w.call != nil && w.call.held {
		w.call.cancel() // it holds up the report
	}
}

// clip cuts a message to what a coordinator takes.
func clip(s string) string {
	if len(s) > tuner.MaxMessage {
		return s[:tuner.MaxMessage-3] + "…"
	}
	return s
}

// adopt takes granted trials in hand.
func (w *Worker) adopt(m *warptunev1.SynchronizeResponse) {
	for _, s := range m.GetSweeps() {
		w.sweeps[s.GetSweep()] = s
	}
	reported := map[leaseKey]bool{}
	if len(m.GetGrants()) > 0 {
		for _, r := range w.reports {
			reported[keyOf(r.GetLease())] = true
		}
	}
	for _, g := range m.GetGrants() {
		key := keyOf(g.GetLease())
		s := w.sweeps[key.sweep]
		if s == nil || w.tasks[key] != nil || reported[key] {
			continue // without particulars it is granted again, with them
		}
		trial, again := tuner.TrialOf(key.seq)
		t := &task{lease: g.GetLease(), question: tuner.Question{
			Sweep: s.GetId(), Spec: rpc.ToSpec(s.GetSpec()), Seq: trial, Again: again, Index: g.GetIndex(),
			Config: search.Config{Names: s.GetNames(), Values: rpc.ToValues(g.GetConfig())},
		}}
		if level := g.GetLevel(); level != "" {
			t.question.Spec.Level = level
		}
		if w.draining {
			w.release(t)
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
	delete(w.tasks, key)
	if t.cancel != nil {
		t.cancel()
	}
	w.log.Debug("dropped a trial", "sweep", t.question.Sweep, "trial", t.question.Seq)
}

// acknowledge forgets reports that the coordinator has dealt with.
func (w *Worker) acknowledge(acks []*warptunev1.Acknowledgement) {
	if len(acks) == 0 {
		return
	}
	done := make(map[leaseKey]bool, len(acks))
	for _, a := range acks {
		done[keyOf(a.GetLease())] = true
		switch a.GetStatus() {
		case warptunev1.ReportStatus_REPORT_STATUS_RECORDED, warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED:
		default:
			w.log.Warn("report not recorded", "sweep", w.sweeps[a.GetLease().GetSweep()].GetId(), "trial", a.GetLease().GetSeq(), "status", a.GetStatus().String(), "reason", a.GetMessage())
		}
	}
	kept := w.reports[:0]
	for _, r := range w.reports {
		if !done[keyOf(r.GetLease())] {
			kept = append(kept, r)
		}
	}
	clear(w.reports[len(kept):])
	w.reports = kept
}

// forget drops everything held, when the coordinator turns out to be another.
func (w *Worker) forget() {
	for key := range w.tasks {
		w.drop(key)
	}
	w.queue, w.reports = nil, nil
	clear(w.sweeps)
}
