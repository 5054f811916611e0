package intake

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// Every field of what is written and read by hand is, under its number.
func TestReportFields(t *testing.T) {
	numbers := func(m proto.Message) map[protoreflect.Name]int {
		all := map[protoreflect.Name]int{}
		fields := m.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			all[fields.Get(i).Name()] = int(fields.Get(i).Number())
		}
		return all
	}
	for _, c := range []struct {
		message proto.Message
		want    map[protoreflect.Name]int
	}{
		{&warptunev1.Report{}, map[protoreflect.Name]int{
			"lease": fieldReportLease, "outcome": fieldReportOutcome, "fault": fieldReportFault, "released": fieldReportReleased,
			"found": fieldReportFound,
		}},
		{&warptunev1.Lease{}, map[protoreflect.Name]int{"sweep": fieldLeaseSweep, "seq": fieldLeaseSeq, "token": fieldLeaseToken}},
		{&warptunev1.Outcome{}, map[protoreflect.Name]int{
			"validity": fieldValidity, "time_us": fieldTimeUS, "message": fieldMessage, "compiler": fieldCompiler, "digest": fieldDigest,
			"registers": fieldRegisters, "spill_bytes": fieldSpillBytes, "shared_bytes": fieldShared, "carve_out_bytes": fieldCarveOut,
			"occupancy": fieldOccupancy, "limiter": fieldLimiter, "bound": fieldBound, "metrics": fieldMetrics, "floor_us": fieldFloorUS,
			"checked": fieldChecked, "device": fieldDevice,
		}},
		{&warptunev1.Checked{}, map[protoreflect.Name]int{
			"ctas": fieldCTAs, "full": fieldFull, "of": fieldOf, "compared": fieldCompared, "for": fieldFor, "for_full": fieldForFull,
			"outputs": fieldOutputs, "warnings": fieldWarnings,
		}},
	} {
		if got := numbers(c.message); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%T has %v, want %v", c.message, got, c.want)
		}
	}
	if got := numbers(&warptunev1.SynchronizeRequest{}); got["reports"] != fieldReports || len(got) != 11 {
		t.Errorf("SynchronizeRequest has %v: appendSynchronize must know them all", got)
	}
}

// randomReports returns a message with reports of every kind and all values
// that are written in a way of their own.
func randomReports(rng *rand.Rand, n int) *warptunev1.SynchronizeRequest {
	integer := func() int64 {
		return []int64{0, 1, -1, 127, 128, math.MinInt64, math.MaxInt64, rng.Int64()}[rng.IntN(8)]
	}
	float := func() float64 {
		return []float64{0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(-1), rng.NormFloat64()}[rng.IntN(6)]
	}
	text := func() string {
		return []string{"", "ü", "registers", fmt.Sprint(rng.Uint64()), string(make([]byte, 300))}[rng.IntN(5)]
	}
	m := &warptunev1.SynchronizeRequest{
		Worker: &warptunev1.WorkerIdentity{Id: text(), Epoch: rng.Uint64(), Archs: map[string]string{"a": "b"}},
		Held:   []*warptunev1.Lease{{Seq: integer()}, {}}, Want: integer(), KnownSweeps: []uint64{1, rng.Uint64()}, Draining: rng.IntN(2) == 0,
		WaitMs: integer(), Coordinator: text(), Leaves: rng.IntN(2) == 0, Unfit: map[uint64]string{rng.Uint64(): text()},
	}
	for range n {
		r := &warptunev1.Report{Found: rng.IntN(2) == 0}
		if rng.IntN(8) > 0 {
			r.Lease = &warptunev1.Lease{Sweep: rng.Uint64(), Seq: integer(), Token: uint64(integer())}
		}
		switch rng.IntN(8) {
		case 0:
		case 1:
			r.Result = &warptunev1.Report_Fault{Fault: text()}
		case 2:
			r.Result = &warptunev1.Report_Released{Released: rng.IntN(2) == 0}
		case 3:
			r.Result = &warptunev1.Report_Outcome{Outcome: &warptunev1.Outcome{}}
		default:
			o := &warptunev1.Outcome{
				Validity: warptunev1.Validity(rng.IntN(9) - 1), TimeUs: float(), FloorUs: float(), Message: text(), Compiler: text(), Digest: text(),
				Registers: integer(), SpillBytes: integer(), SharedBytes: integer(), CarveOutBytes: integer(), Occupancy: float(),
				Limiter: text(), Bound: text(),
			}
			if rng.IntN(4) > 0 {
				o.Checked = &warptunev1.Checked{
					Ctas: integer(), Full: integer(), Of: integer(), Compared: integer(), For: text(), ForFull: text(), Outputs: text(), Warnings: text(),
				}
			}
			for range rng.IntN(30) {
				if o.Metrics == nil {
					o.Metrics = map[string]float64{}
				}
				o.Metrics[text()] = float()
			}
			r.Result = &warptunev1.Report_Outcome{Outcome: o}
		}
		m.Reports = append(m.Reports, r)
	}
	return m
}

// What is written by hand is what the library reads, and the other way round.
func TestReportsAreTheLibrarys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for range 500 {
		m := randomReports(rng, rng.IntN(6))
		byHand, err := appendSynchronize([]byte("before"), m)
		if err != nil || string(byHand[:6]) != "before" {
			t.Fatalf("%q (%v)", byHand, err)
		}
		var read warptunev1.SynchronizeRequest
		if err := proto.Unmarshal(byHand[6:], &read); err != nil || !proto.Equal(&read, m) {
			t.Fatalf("the library reads %v (%v), want %v", &read, err, m)
		}
		written, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{written, byHand[6:]} {
			if err := readSynchronize(b, &read); err != nil || !proto.Equal(&read, m) {
				t.Fatalf("%v is read (%v), want %v", &read, err, m)
			}
		}
	}
	m := randomReports(rng, 0)
	m.Reports = []*warptunev1.Report{{Result: &warptunev1.Report_Fault{Fault: "\xff"}}}
	if _, err := appendSynchronize(nil, m); err == nil {
		t.Error("a text that is none was written")
	}
}

// FuzzReadSynchronize: whatever bytes come, they are read as the library does,
// or refused where it refuses them.
func FuzzReadSynchronize(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := range 5 {
		b, _ := proto.Marshal(randomReports(rng, n))
		f.Add(b)
	}
	f.Add([]byte{fieldReports<<3 | 2, 4, fieldReportOutcome<<3 | 2, 0, fieldReportOutcome<<3 | 2, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want warptunev1.SynchronizeRequest
		err, wantErr := readSynchronize(b, &got), proto.Unmarshal(b, &want)
		if (err == nil) != (wantErr == nil) || err == nil && !proto.Equal(&got, &want) {
			t.Errorf("%v (%v), want %v (%v)", &got, err, &want, wantErr)
		}
	})
}

// BenchmarkReports compares the two ways, by message of 16 reports.
func BenchmarkReports(b *testing.B) {
	m := &warptunev1.SynchronizeRequest{}
	for i := range int64(16) {
		o := warptunev1.Outcome{
			Validity: warptunev1.Validity_VALIDITY_CORRECT, TimeUs: 17.25 + float64(i), Compiler: "clang 19.1.7", Digest: fmt.Sprintf("%064x", i),
			Registers: 40, SharedBytes: 4096, Occupancy: 0.75, Limiter: "registers", Bound: "dram", Metrics: map[string]float64{},
		}
		for k := range 12 {
			o.Metrics[fmt.Sprintf("smsp__metric_%d.sum", k)] = float64(i) / 3
		}
		m.Reports = append(m.Reports, &warptunev1.Report{Lease: &warptunev1.Lease{Sweep: 1, Seq: i, Token: 5}, Result: &warptunev1.Report_Outcome{Outcome: &o}})
	}
	data, _ := proto.Marshal(m)
	b.Run("write/library", func(b *testing.B) {
		for b.Loop() {
			_, _ = proto.Marshal(m)
		}
	})
	b.Run("write/here", func(b *testing.B) {
		room := make([]byte, 0, 2*len(data))
		for b.Loop() {
			_, _ = appendSynchronize(room, m)
		}
	})
	var read warptunev1.SynchronizeRequest
	b.Run("read/library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = proto.Unmarshal(data, &read)
		}
	})
	b.Run("read/here", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = readSynchronize(data, &read)
		}
	})
}
