package intake

import (
	"hash/maphash"
	"math"
	"sync/atomic"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// Reports are nearly all that workers send, and most of a report is a map, which
// the protobuf library takes apart by reflection, an allocation or three for each
// entry. So they are read and written here, by the same format: some four times
// as fast. What is unusual, and all other fields, are left to the library.

// Numbers of the fields (worker.proto, types.proto); a test compares them.
const (
	fieldReports = 3 // of SynchronizeRequest

	fieldReportLease    = 1 // of Report
	fieldReportOutcome  = 2
	fieldReportFault    = 3
	fieldReportReleased = 4
	fieldReportFound    = 5

	fieldLeaseSweep = 1 // of Lease
	fieldLeaseSeq   = 2
	fieldLeaseToken = 3

	fieldValidity   = 1 // of Outcome
	fieldTimeUS     = 2
	fieldMessage    = 3
	fieldCompiler   = 4
	fieldDigest     = 5
	fieldRegisters  = 6
	fieldSpillBytes = 7
	fieldShared     = 8
	fieldCarveOut   = 9
	fieldOccupancy  = 10
	fieldLimiter    = 11
	fieldBound      = 12
	fieldMetrics    = 13
	fieldFloorUS    = 14
	fieldChecked    = 15
	fieldDevice     = 16

	fieldCTAs     = 1 // of Checked
	fieldFull     = 2
	fieldOf       = 3
	fieldCompared = 4
	fieldFor      = 5
	fieldForFull  = 6
	fieldOutputs  = 7
	fieldWarnings = 8

	fieldMapKey   = 1 // of a map's entry
	fieldMapValue = 2
)

// reportRoom is a report in one piece.
type reportRoom struct {
	report  warptunev1.Report
	lease   warptunev1.Lease
	outcome warptunev1.Outcome
	checked warptunev1.Checked
	result  warptunev1.Report_Outcome
}

// readSynchronize reads what proto.Unmarshal does, as that does.
func readSynchronize(data []byte, m *warptunev1.SynchronizeRequest) error {
	var reports [][]byte
	rest := make([]byte, 0, 1<<10)
	for b := data; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return proto.Unmarshal(data, m)
		}
		v := protowire.ConsumeFieldValue(num, typ, b[n:])
		if v < 0 {
			return proto.Unmarshal(data, m)
		}
		if num == fieldReports && typ == protowire.BytesType {
			report, _ := protowire.ConsumeBytes(b[n:])
			reports = append(reports, report)
		} else {
			rest = append(rest, b[:n+v]...)
		}
		b = b[n+v:]
	}
	if err := proto.Unmarshal(rest, m); err != nil || len(reports) == 0 {
		return err
	}
	m.Reports = make([]*warptunev1.Report, len(reports))
	room := make([]reportRoom, len(reports))
	metrics := 0
	for i, b := range reports {
		m.Reports[i] = &room[i].report
		if room[i].read(b, metrics) {
			metrics = len(room[i].outcome.Metrics)
		} else if err := proto.Unmarshal(b, &room[i].report); err != nil {
			return err
		}
	}
	return nil
}

// read reads a report; false if there is something unusual in it. metrics is
// how many it is likely to have.
func (r *reportRoom) read(b []byte, metrics int) bool {
	m := &r.report
	return eachField(b, func(num protowire.Number, typ protowire.Type, number uint64, b []byte) bool {
		switch {
		case num == fieldReportLease && typ == protowire.BytesType && m.Lease == nil:
			m.Lease = &r.lease
			return readLease(b, &r.lease)
		case num == fieldReportOutcome && typ == protowire.BytesType && m.Result == nil:
			r.result.Outcome = &r.outcome
			m.Result = &r.result
			return readOutcome(b, &r.outcome, &r.checked, metrics)
		case num == fieldReportFound && typ == protowire.VarintType:
			m.Found = number != 0
			return true
		}
		return false
	})
}

func readLease(b []byte, m *warptunev1.Lease) bool {
	return eachField(b, func(num protowire.Number, typ protowire.Type, number uint64, _ []byte) bool {
		if typ != protowire.VarintType {
			return false
		}
		switch num {
		case fieldLeaseSweep:
			m.Sweep = number
		case fieldLeaseSeq:
			m.Seq = int64(number)
		case fieldLeaseToken:
			m.Token = number
		default:
			return false
		}
		return true
	})
}

func readOutcome(b []byte, m *warptunev1.Outcome, checked *warptunev1.Checked, metrics int) bool {
	return eachField(b, func(num protowire.Number, typ protowire.Type, number uint64, b []byte) bool {
		switch typ {
		case protowire.VarintType:
			return readInteger(m, num, number)
		case protowire.Fixed64Type:
			switch f := math.Float64frombits(number); num {
			case fieldTimeUS:
				m.TimeUs = f
			case fieldOccupancy:
				m.Occupancy = f
			case fieldFloorUS:
				m.FloorUs = f
			default:
				return false
			}
			return true
		case protowire.BytesType:
			if num == fieldMetrics {
				if m.Metrics == nil {
					m.Metrics = make(map[string]float64, metrics)
				}
				return readMetric(b, m.Metrics)
			}
			if num == fieldChecked && m.Checked == nil {
				m.Checked = checked
				return readChecked(b, checked)
			}
			return utf8.Valid(b) && readText(m, num, b)
		}
		return false
	})
}

func readInteger(m *warptunev1.Outcome, num protowire.Number, number uint64) bool {
	switch num {
	case fieldValidity:
		m.Validity = warptunev1.Validity(number)
	case fieldRegisters:
		m.Registers = int64(number)
	case fieldSpillBytes:
		m.SpillBytes = int64(number)
	case fieldShared:
		m.SharedBytes = int64(number)
	case fieldCarveOut:
		m.CarveOutBytes = int64(number)
	default:
		return false
	}
	return true
}

func readText(m *warptunev1.Outcome, num protowire.Number, text []byte) bool {
	switch num {
	case fieldMessage:
		m.Message = string(text)
	case fieldDigest:
		m.Digest = string(text)
	case fieldCompiler:
		m.Compiler = usual.text(text)
	case fieldLimiter:
		m.Limiter = usual.text(text)
	case fieldBound:
		m.Bound = usual.text(text)
	case fieldDevice:
		m.Device = usual.text(text)
	default:
		return false
	}
	return true
}

func readChecked(b []byte, m *warptunev1.Checked) bool {
	return eachField(b, func(num protowire.Number, typ protowire.Type, number uint64, b []byte) bool {
		switch typ {
		case protowire.VarintType:
			switch num {
			case fieldCTAs:
				m.Ctas = int64(number)
			case fieldFull:
				m.Full = int64(number)
			case fieldOf:
				m.Of = int64(number)
			case fieldCompared:
				m.Compared = int64(number)
			default:
				return false
			}
			return true
		case protowire.BytesType:
			return utf8.Valid(b) && readCheckedText(m, num, b)
		}
		return false
	})
}

func readCheckedText(m *warptunev1.Checked, num protowire.Number, text []byte) bool {
	switch num {
	case fieldFor:
		m.For = usual.text(text)
	case fieldForFull:
		m.ForFull = usual.text(text)
	case fieldOutputs:
		m.Outputs = usual.text(text)
	case fieldWarnings:
		m.Warnings = usual.text(text)
	default:
		return false
	}
	return true
}

func readMetric(b []byte, metrics map[string]float64) bool {
	name, value := "", 0.0
	ok := eachField(b, func(num protowire.Number, typ protowire.Type, number uint64, b []byte) bool {
		switch {
		case num == fieldMapKey && typ == protowire.BytesType && utf8.Valid(b):
			name = usual.text(b)
		case num == fieldMapValue && typ == protowire.Fixed64Type:
			value = math.Float64frombits(number)
		default:
			return false
		}
		return true
	})
	if ok {
		metrics[name] = value
	}
	return ok
}

// eachField calls f for each field of a message until it answers false, with
// its value as a number or, of BytesType, as bytes. false: it did, or the
// message does not parse.
func eachField(b []byte, f func(num protowire.Number, typ protowire.Type, number uint64, b []byte) bool) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		var number uint64
		var content []byte
		switch typ {
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			number, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(b)
		default:
			return false
		}
		if n < 0 || !f(num, typ, number, content) {
			return false
		}
		b = b[n:]
	}
	return true
}

// usual keeps texts that come again and again: names of metrics and the like.
var usual = texts{seed: maphash.MakeSeed()}

// texts is a cache of texts. It is safe for concurrent use.
type texts struct {
	seed maphash.Seed
	kept [512]atomic.Pointer[string] // by hash; the latest
}

// text returns b as a string, one that is kept if it came before.
func (t *texts) text(b []byte) string {
	at := &t.kept[maphash.Bytes(t.seed, b)%uint64(len(t.kept))]
	if s := at.Load(); s != nil && *s == string(b) {
		return *s
	}
	s := string(b)
	at.Store(&s)
	return s
}
