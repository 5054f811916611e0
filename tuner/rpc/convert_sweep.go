package rpc

import (
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// FromSweep returns a sweep's state for the wire.
func FromSweep(s *tuner.Sweep) *warptunev1.Sweep {
	c := &s.Counts
	m := &warptunev1.Sweep{
		Id: s.ID, Key: s.Key, Spec: FromSpec(&s.Spec), State: warptunev1.SweepState(s.State), Message: s.Message,
		Counts: &warptunev1.Counts{
			Space: c.Space, Total: c.Total, Asked: c.Asked, Queued: c.Queued, Leased: c.Leased, Done: c.Done,
			Abandoned: c.Abandoned, Reused: c.Reused, Requeued: c.Requeued, ByValidity: c.ByValidity[:],
		},
		SubmittedMs: millis(s.Submitted), EndedMs: millis(s.Ended), Rate: s.Rate, TimeLeftMs: s.TimeLeft.Milliseconds(), Workers: int64(s.Workers), Confirmed: s.Confirmed && s.Independent, ConfirmedWithin: s.Confirmed && !s.Independent,
		Proof: fromProof(&s.Proof), Transferred: s.Transferred, SpentMs: s.Spent.Milliseconds(), Owner: s.Owner,
	}
	if s.Best != nil {
		m.Best = FromResult(s.Best, s.BestValues, s.Spec.LastLevel())
	}
	if s.Left != nil {
		m.Left = &warptunev1.Estimate{Gain: s.Left.Gain, AtMost: s.Left.AtMost}
	}
	for _, d := range s.Distrusted {
		m.Distrusted = append(m.Distrusted, &warptunev1.Distrust{Worker: d.Worker, Why: d.Why})
	}
	for _, a := range s.Aside {
		m.SetAside = append(m.SetAside, &warptunev1.SetAside{Worker: a.Worker, Host: a.Host, Why: a.Why, ForMs: a.For.Milliseconds()})
	}
	for _, e := range s.Examples {
		m.Failures = append(m.Failures, &warptunev1.Example{Kind: e.Kind, Seq: e.Seq, Message: e.Message, Config: e.Config})
	}
	return m
}

// ToSweep returns a sweep's state from the wire. Numbers that only its
// coordinator uses are 0.
func ToSweep(m *warptunev1.Sweep) tuner.Sweep {
	c := m.GetCounts()
	s := tuner.Sweep{
		ID: m.GetId(), Key: m.GetKey(), Spec: ToSpec(m.GetSpec()), State: tuner.SweepState(m.GetState()), Message: m.GetMessage(),
		Counts: tuner.Counts{
			Space: c.GetSpace(), Total: c.GetTotal(), Asked: c.GetAsked(), Queued: c.GetQueued(), Leased: c.GetLeased(), Done: c.GetDone(),
			Abandoned: c.GetAbandoned(), Reused: c.GetReused(), Requeued: c.GetRequeued(),
		},
		Submitted: fromMillis(m.GetSubmittedMs()), Ended: fromMillis(m.GetEndedMs()), Rate: m.GetRate(), TimeLeft: Milliseconds(m.GetTimeLeftMs()), Workers: int(m.GetWorkers()), Confirmed: m.GetConfirmed() || m.GetConfirmedWithin(), Independent: m.GetConfirmed(),
		Proof: toProof(m.GetProof()), Transferred: m.GetTransferred(), Spent: Milliseconds(m.GetSpentMs()), Owner: m.GetOwner(),
	}
	copy(s.Counts.ByValidity[:], c.GetByValidity())
	if m.GetBest() != nil {
		best, values := ToResult(m.GetBest())
		s.Best, s.BestValues = &best, values
	}
	if e := m.GetLeft(); e != nil {
		s.Left = &search.Estimate{Gain: e.GetGain(), AtMost: e.GetAtMost()}
	}
	for _, d := range m.GetDistrusted() {
		s.Distrusted = append(s.Distrusted, tuner.Distrust{Worker: d.GetWorker(), Why: d.GetWhy()})
	}
	for _, a := range m.GetSetAside() {
		s.Aside = append(s.Aside, tuner.Aside{Worker: a.GetWorker(), Host: a.GetHost(), Why: a.GetWhy(), For: Milliseconds(a.GetForMs())})
	}
	for _, e := range m.GetFailures() {
		s.Examples = append(s.Examples, tuner.Example{Kind: e.GetKind(), Seq: e.GetSeq(), Message: e.GetMessage(), Config: e.GetConfig()})
	}
	return s
}

func fromProof(p *tuner.Proof) *warptunev1.Proof {
	m := &warptunev1.Proof{Of: p.Of, Evaluated: p.Evaluated, Pruned: p.Pruned, Open: p.Open}
	if p.Gap >= 0 {
		m.Gap = &p.Gap
	}
	return m
}

func toProof(m *warptunev1.Proof) tuner.Proof {
	p := tuner.Proof{Of: m.GetOf(), Evaluated: m.GetEvaluated(), Pruned: m.GetPruned(), Open: m.GetOpen(), Gap: -1}
	if m != nil && m.Gap != nil {
		p.Gap = m.GetGap()
	}
	return p
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
