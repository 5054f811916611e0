package intake

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// appendSynchronize appends what proto.Marshal writes, if not in the same order.
func appendSynchronize(b []byte, m *warptunev1.SynchronizeRequest) ([]byte, error) {
	begin := len(b)
	for _, r := range m.GetReports() {
		var ok bool
		if b, ok = appendReport(protowire.AppendTag(b, fieldReports, protowire.BytesType), r); !ok {
			return proto.MarshalOptions{}.MarshalAppend(b[:begin], m)
		}
	}
	rest := &warptunev1.SynchronizeRequest{
		Worker: m.Worker, Held: m.Held, Want: m.Want, KnownSweeps: m.KnownSweeps, KnownDigests: m.KnownDigests, Draining: m.Draining, WaitMs: m.WaitMs,
		Coordinator: m.Coordinator, Leaves: m.Leaves, Unfit: m.Unfit,
	}
	return proto.MarshalOptions{}.MarshalAppend(b, rest)
}

// appendReport appends a report and its length; false if there is something
// unusual in it.
func appendReport(b []byte, m *warptunev1.Report) ([]byte, bool) {
	at := len(b)
	if l := m.GetLease(); l != nil {
		from := len(b) + 1
		b = append(protowire.AppendTag(b, fieldReportLease, protowire.BytesType), 0) // its length, below 128
		b = appendInteger(b, fieldLeaseSweep, l.Sweep)
		b = appendInteger(b, fieldLeaseSeq, uint64(l.Seq))
		b = appendInteger(b, fieldLeaseToken, l.Token)
		b[from] = byte(len(b) - from - 1)
	}
	ok := false
	switch r := m.GetResult().(type) {
	case *warptunev1.Report_Outcome:
		b = protowire.AppendTag(b, fieldReportOutcome, protowire.BytesType)
		from := len(b)
		b, ok = appendOutcome(b, r.Outcome)
		b = prefixed(b, from)
	case *warptunev1.Report_Fault:
		ok = utf8.ValidString(r.Fault)
		b = protowire.AppendString(protowire.AppendTag(b, fieldReportFault, protowire.BytesType), r.Fault)
	case *warptunev1.Report_Released:
		ok = true
		b = protowire.AppendVarint(protowire.AppendTag(b, fieldReportReleased, protowire.VarintType), protowire.EncodeBool(r.Released))
	}
	return prefixed(appendInteger(b, fieldReportFound, protowire.EncodeBool(m.GetFound())), at), ok
}

// prefixed puts the length of what follows from into b there.
func prefixed(b []byte, from int) []byte {
	n := len(b) - from
	size := protowire.SizeVarint(uint64(n))
	b = append(b, make([]byte, size)...)
	copy(b[from+size:], b[from:from+n])
	protowire.AppendVarint(b[from:from], uint64(n))
	return b
}

func appendOutcome(b []byte, m *warptunev1.Outcome) ([]byte, bool) {
	if m == nil {
		return b, true
	}
	b = appendInteger(b, fieldValidity, uint64(m.Validity))
	b = appendFloat(b, fieldTimeUS, m.TimeUs)
	b, message := appendString(b, fieldMessage, m.Message)
	b, compiler := appendString(b, fieldCompiler, m.Compiler)
	b, digest := appendString(b, fieldDigest, m.Digest)
	b = appendInteger(b, fieldRegisters, uint64(m.Registers))
	b = appendInteger(b, fieldSpillBytes, uint64(m.SpillBytes))
	b = appendInteger(b, fieldShared, uint64(m.SharedBytes))
	b = appendInteger(b, fieldCarveOut, uint64(m.CarveOutBytes))
	b = appendFloat(b, fieldOccupancy, m.Occupancy)
	b, limiter := appendString(b, fieldLimiter, m.Limiter)
	b, bound := appendString(b, fieldBound, m.Bound)
	b = appendFloat(b, fieldFloorUS, m.FloorUs)
	b, checked := appendChecked(b, m.Checked)
	b, device := appendString(b, fieldDevice, m.Device)
	ok := device && message && compiler && digest && limiter && bound && checked
	for name, v := range m.Metrics {
		ok = ok && utf8.ValidString(name)
		b = protowire.AppendTag(b, fieldMetrics, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(1+protowire.SizeBytes(len(name))+1+8))
		b = protowire.AppendString(protowire.AppendTag(b, fieldMapKey, protowire.BytesType), name)
		b = protowire.AppendFixed64(protowire.AppendTag(b, fieldMapValue, protowire.Fixed64Type), math.Float64bits(v))
	}
	return b, ok
}

func appendChecked(b []byte, m *warptunev1.Checked) ([]byte, bool) {
	if m == nil {
		return b, true
	}
	b = protowire.AppendTag(b, fieldChecked, protowire.BytesType)
	from := len(b)
	b = appendInteger(b, fieldCTAs, uint64(m.Ctas))
	b = appendInteger(b, fieldFull, uint64(m.Full))
	b = appendInteger(b, fieldOf, uint64(m.Of))
	b = appendInteger(b, fieldCompared, uint64(m.Compared))
	b, looked := appendString(b, fieldFor, m.For)
	b, full := appendString(b, fieldForFull, m.ForFull)
	b, outputs := appendString(b, fieldOutputs, m.Outputs)
	b, warnings := appendString(b, fieldWarnings, m.Warnings)
	return prefixed(b, from), looked && full && outputs && warnings
}

func appendInteger(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func appendFloat(b []byte, num protowire.Number, v float64) []byte {
	bits := math.Float64bits(v)
	if bits == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, num, protowire.Fixed64Type), bits)
}

// appendString appends a text; false if it is none.
func appendString(b []byte, num protowire.Number, s string) ([]byte, bool) {
	if s == "" {
		return b, true
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s), utf8.ValidString(s)
}
