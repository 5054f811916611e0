package rpc

import (
	"maps"
	"math"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

// Milliseconds is a duration from the wire; one that is too long is the longest.
func Milliseconds(ms int64) time.Duration {
	const most = int64(math.MaxInt64 / time.Millisecond)
	return time.Duration(min(max(ms, -most), most)) * time.Millisecond
}

// FromSpec returns a spec for the wire.
func FromSpec(s *tuner.Spec) *warptunev1.Spec {
	m := &warptunev1.Spec{
		Kernel: s.Kernel, Bundle: s.Bundle, Arch: s.Arch, Problem: s.Problem, Strategy: s.Strategy, Budget: s.Budget,
		Seed: s.Seed, Level: s.Level, Compiler: s.Compiler, ArchDigest: s.ArchDigest, Engine: s.Engine,
		BudgetMs: s.TimeBudget.Milliseconds(), Within: s.Within, Start: s.Start, Transfer: s.Transfer,
		Patience: s.Patience, Negligible: s.Negligible, Check: s.Check, Faults: s.Faults, ArchDescriptor: s.Descriptor, On: s.On,
		Predictions: s.Predictions,
	}
	if len(s.Set) > 0 {
		m.Set = make(map[string]*warptunev1.Values, len(s.Set))
		for name, values := range s.Set {
			m.Set[name] = &warptunev1.Values{Values: values}
		}
	}
	return m
}

// ToSpec returns a spec from the wire.
func ToSpec(m *warptunev1.Spec) tuner.Spec {
	s := tuner.Spec{
		Kernel: m.GetKernel(), Bundle: m.GetBundle(), Arch: m.GetArch(), Problem: m.GetProblem(), Strategy: m.GetStrategy(),
		Budget: m.GetBudget(), Seed: m.GetSeed(), Level: m.GetLevel(), Compiler: m.GetCompiler(),
		ArchDigest: m.GetArchDigest(), Engine: m.GetEngine(),
		TimeBudget: Milliseconds(m.GetBudgetMs()), Start: m.GetStart(), Transfer: m.GetTransfer(),
		Patience: m.GetPatience(), Negligible: m.GetNegligible(), Check: m.GetCheck(), Faults: m.GetFaults(), Descriptor: m.GetArchDescriptor(), On: m.GetOn(),
		Predictions: m.GetPredictions(),
	}
	if m != nil {
		s.Within = m.Within // nil and zero differ
	}
	if len(m.GetSet()) > 0 {
		s.Set = make(map[string][]string, len(m.GetSet()))
		for name, values := range m.GetSet() {
			s.Set[name] = values.GetValues()
		}
	}
	return s
}

// FromValues returns parameter values for the wire.
func FromValues(values []search.Value) []*warptunev1.Value {
	room := newValueRoom(len(values))
	return room.from(values)
}

// valueRoom is where messages of values are made, all in one piece.
type valueRoom struct {
	refs     []*warptunev1.Value
	all      []warptunev1.Value
	integers []warptunev1.Value_Integer
}

// newValueRoom returns room for n values.
func newValueRoom(n int) *valueRoom {
	return &valueRoom{make([]*warptunev1.Value, n), make([]warptunev1.Value, n), make([]warptunev1.Value_Integer, n)}
}

func (r *valueRoom) from(values []search.Value) []*warptunev1.Value {
	n := len(values)
	ms, all, integers := r.refs[:n:n], r.all[:n], r.integers[:n]
	r.refs, r.all, r.integers = r.refs[n:], r.all[n:], r.integers[n:]
	for i, v := range values {
		m := &all[i]
		switch v.Kind {
		case search.Int:
			integers[i].Integer = v.I
			m.Kind = &integers[i]
		case search.Float:
			m.Kind = &warptunev1.Value_Real{Real: v.F}
		case search.Bool:
			m.Kind = &warptunev1.Value_Truth{Truth: v.I != 0}
		case search.String:
			m.Kind = &warptunev1.Value_Text{Text: v.S}
		}
		ms[i] = m
	}
	return ms
}

// ToValues returns parameter values from the wire; one of no known kind is the
// invalid Value.
func ToValues(ms []*warptunev1.Value) []search.Value {
	values := make([]search.Value, len(ms))
	for i, m := range ms {
		switch k := m.GetKind().(type) {
		case *warptunev1.Value_Integer:
			values[i] = search.Value{Kind: search.Int, I: k.Integer}
		case *warptunev1.Value_Real:
			values[i] = search.Value{Kind: search.Float, F: k.Real}
		case *warptunev1.Value_Truth:
			values[i] = search.Value{Kind: search.Bool}
			if k.Truth {
				values[i].I = 1
			}
		case *warptunev1.Value_Text:
			values[i] = search.Value{Kind: search.String, S: k.Text}
		}
	}
	return values
}

// FromOutcome returns an outcome for the wire.
func FromOutcome(o *tuner.Outcome) *warptunev1.Outcome {
	m := &warptunev1.Outcome{}
	PutOutcome(m, o)
	return m
}

// PutOutcome fills an empty message with an outcome.
func PutOutcome(m *warptunev1.Outcome, o *tuner.Outcome) {
	m.Validity, m.TimeUs, m.FloorUs, m.Message = warptunev1.Validity(o.Validity), o.TimeUS, o.FloorUS, o.Message
	m.Compiler, m.Digest, m.Limiter, m.Bound, m.Occupancy, m.Device = o.Compiler, o.Digest, o.Limiter, o.Bound, o.Occupancy, o.Device
	m.Registers, m.SpillBytes = int64(o.Registers), int64(o.SpillBytes)
	m.SharedBytes, m.CarveOutBytes, m.Metrics = int64(o.Shared), int64(o.CarveOut), o.Metrics
	if c := &o.Checked; c.Recorded() {
		m.Checked = &warptunev1.Checked{
			Ctas: c.CTAs, Full: c.Full, Of: c.Of, Compared: c.Compared, For: c.For, ForFull: c.ForFull, Outputs: c.Outputs, Warnings: c.Warnings,
		}
	}
}

// ToOutcome returns an outcome from the wire, which may make no sense: see
// tuner.Outcome.Check.
func ToOutcome(m *warptunev1.Outcome) tuner.Outcome {
	o := toOutcome(m)
	o.Metrics = maps.Clone(o.Metrics)
	return o
}

// toOutcome is ToOutcome, but the metrics are the message's.
func toOutcome(m *warptunev1.Outcome) tuner.Outcome {
	v := tuner.ValidityUnknown
	if m.GetValidity() >= 0 && m.GetValidity() <= warptunev1.Validity_VALIDITY_CORRECTNESS {
		v = tuner.Validity(m.GetValidity())
	}
	return tuner.Outcome{
		Validity: v, TimeUS: m.GetTimeUs(), Message: m.GetMessage(), Compiler: m.GetCompiler(), Digest: m.GetDigest(),
		Registers: int(m.GetRegisters()), SpillBytes: int(m.GetSpillBytes()), Shared: int(m.GetSharedBytes()), CarveOut: int(m.GetCarveOutBytes()),
		Occupancy: m.GetOccupancy(), Limiter: m.GetLimiter(), Bound: m.GetBound(), Metrics: m.GetMetrics(), FloorUS: m.GetFloorUs(),
		Checked: toChecked(m.GetChecked()), Device: m.GetDevice(),
	}
}

func toChecked(m *warptunev1.Checked) tuner.Checked {
	return tuner.Checked{
		CTAs: m.GetCtas(), Full: m.GetFull(), Of: m.GetOf(), Compared: m.GetCompared(),
		For: m.GetFor(), ForFull: m.GetForFull(), Outputs: m.GetOutputs(), Warnings: m.GetWarnings(),
	}
}

// FromResult returns a result, its configuration and the level it was evaluated
// at for the wire.
func FromResult(r *tuner.Result, values []search.Value, level string) *warptunev1.Result {
	m := &warptunev1.Result{
		Level: level,
		Seq:   r.Seq, Index: r.Index, Config: FromValues(values), Abandoned: r.Abandoned, Attempts: int64(r.Attempts), Reused: r.Reused,
	}
	if r.Abandoned {
		m.Reason = r.Outcome.Message
	} else {
		m.Outcome = FromOutcome(&r.Outcome)
	}
	return m
}

// ToResult returns a result and its configuration's values from the wire.
func ToResult(m *warptunev1.Result) (tuner.Result, []search.Value) {
	r := tuner.Result{Seq: m.GetSeq(), Index: m.GetIndex(), Attempts: int(m.GetAttempts()), Abandoned: m.GetAbandoned(), Reused: m.GetReused()}
	if r.Abandoned {
		r.Outcome.Message = m.GetReason()
	} else {
		r.Outcome = ToOutcome(m.GetOutcome())
	}
	return r, ToValues(m.GetConfig())
}
