package dram

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

var spec = Spec{Granule: 64, L2Read: 32, L2Write: 16, Port: 64, DRAM: 16, L2Latency: 280, FarLatency: 500, Waits: NewWaits([]float64{0, 50, 50, 100}, []float64{560, 560, 780, 780}), WriteBacklog: 1000}

func TestIdleLatencies(t *testing.T) {
	for _, c := range []struct {
		name  string
		dram  int64
		far   bool
		piece uint64
		want  int64
	}{
		{"near hit", 0, false, 0, 280},
		{"far hit", 0, true, 0, 500},
		{"short wait", 2, false, 7, 560},
		{"long wait", 2, false, 8, 780},
	} {
		if got := New(spec).Read(1000, &Request{Sectors: 4, FromDRAM: c.dram, Held: Fraction, Far: c.far, RowSegment: c.piece}) - 1000; got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.name, got, c.want)
		}
	}
}

func TestRates(t *testing.T) {
	const n = 10000
	for _, c := range []struct {
		name string
		do   func(s *Share) int64
		want float64 // cycles a line of 128 bytes
	}{
		{"L2 read", func(s *Share) int64 { return s.Read(0, &Request{Sectors: 4, FromDRAM: 0, Held: Fraction}) }, 4},
		{"one sector costs more than a quarter of a line", func(s *Share) int64 { return s.Read(0, &Request{Sectors: 1, FromDRAM: 0, Held: Fraction}) }, 4 * 0.42},
		{"L2 write", func(s *Share) int64 { return s.Write(0, 4, 0, 0) }, 8},
		{"DRAM read", func(s *Share) int64 { return s.Read(0, &Request{Sectors: 4, FromDRAM: 2, Held: Fraction}) }, 8},
		{"DRAM write", func(s *Share) int64 { return s.Write(0, 4, 0, 2) }, 8},
		{"L2 write of a sector in part", func(s *Share) int64 { return s.Write(0, 1, AllInPart, 0) }, 3.44},
	} {
		s := New(spec)
		var last int64
		for range n {
			last = c.do(s)
		}
		if got := float64(last) / n; got < c.want*0.9 || got > c.want*1.1+0.1 {
			t.Errorf("%s: %.2f cycles a line, want %.2f", c.name, got, c.want)
		}
	}
}

// Of SMs that ask at the same moments none can use what others leave: a burst comes at the rate of the share.
func TestInStep(t *testing.T) {
	took := func(inStep bool) int64 {
		s := spec
		s.Slack, s.Burst, s.InStep = 2000, 4, inStep
		share, last := New(s), int64(0)
		for range 200 {
			last = share.Read(100_000, &Request{Sectors: 4, Held: Fraction})
		}
		return last - 100_000
	}
	if apart, together := took(false), took(true); together < 4*200 || apart > together*3/4 {
		t.Errorf("a burst of 200 lines takes %d cycles, in step %d", apart, together)
	}
}

// A request never comes back before it could on an idle machine, requests are
// served in order, and service time is conserved.
func TestServerProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Server
		at, sum, lastEnd := int64(0), int64(0), int64(0)
		for range rapid.IntRange(1, 100).Draw(t, "n") {
			at += int64(rapid.IntRange(0, 20).Draw(t, "gap"))
			cost := int64(rapid.IntRange(0, 40*Fraction).Draw(t, "cost"))
			begin, end := s.Serve(at, cost)
			if begin < at || end < lastEnd || end*Fraction < at*Fraction+cost {
				t.Fatalf("at %d cost %d: begins %d, ends %d after %d", at, cost, begin, end, lastEnd)
			}
			sum += cost
			lastEnd = end
		}
		if got := s.BusyCycles() * Fraction; int64(got) != sum {
			t.Fatalf("busy %v, want %d", got, sum)
		}
	})
}

func TestContentionGrowsWithOccupancy(t *testing.T) {
	c := spec
	c.Turnaround = 100
	mean := func(gap int64) float64 {
		s := New(c)
		sum, n := int64(0), int64(4000)
		for i := range n {
			at := i * gap
			sum += s.Read(at, &Request{Sectors: 2, FromDRAM: 1, Held: Fraction, Noise: uint64(i) * 0x9e3779b9 >> 8}) - at
		}
		return float64(sum) / float64(n)
	}
	low, high := mean(40), mean(8)
	if low >= high || low < 560 || high > 1000 {
		t.Errorf("mean latency %.0f at a tenth of the rate, %.0f at half", low, high)
	}
}

// Turnarounds grow with how busy DRAM is, queues with a power of it, and neither beyond a busy DRAM.
func TestContentionIsOfTurnaroundsAndQueues(t *testing.T) {
	for _, c := range []struct{ turnaround, queue, busy, want float64 }{
		{100, 0, 0.25, 25}, {0, 128, 0.25, 1}, {100, 128, 0.25, 26}, {100, 128, 1, 228}, {100, 128, 1.5, 228}, {100, 128, 0, 0},
	} {
		s := Spec{Turnaround: c.turnaround, Queue: c.queue}
		if got := s.Contention(c.busy); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("turnarounds of %g and queues of %g with DRAM busy for %g: %g cycles, want %g", c.turnaround, c.queue, c.busy, got, c.want)
		}
	}
}

func TestExponentialHasMeanOne(t *testing.T) {
	sum := int64(0)
	for _, q := range exponential {
		sum += q
	}
	if m := float64(sum) / float64(len(exponential)) / Fraction; m < 0.95 || m > 1.05 {
		t.Errorf("mean %.3f", m)
	}
}

// Sectors of lines that are in L2 must come as fast as an H100 reads them, by how many of a line
// a request asks for (deploy/calibrate bandwidth.sectors).
func TestSectorsOfALineAgainstH100(t *testing.T) {
	type measurement struct {
		Name   string
		Params map[string]any
		Value  float64
	}
	all := measured.Records[measurement](t, "../../../deploy/calibrate/results/h100.jsonl.gz")
	const line = 128.0 / 27.8 // cycles of an SM (arch h100: 3675 bytes a cycle of 132)
	checked := 0
	for _, m := range all {
		if m.Name != "bandwidth.sectors" {
			continue
		}
		n := int64(m.Params["sectors"].(float64))
		s := New(Spec{Granule: 64, L2Read: 128 / line, L2Write: 16, Port: 1e3, DRAM: 16})
		slices, _ := s.ReadCycles(n)
		got := 132 * float64(n) / slices * 1.98
		if off := math.Abs(got/m.Value - 1); off > 0.06 {
			t.Errorf("%d sectors (%v): %.0f billion a second, measured %.0f", n, m.Params["mask"], got, m.Value)
		}
		checked++
	}
	if checked < 8 {
		t.Errorf("%d measurements", checked)
	}
}

// Pieces of 16 bytes of each row, two CTAs to a sector, must be read from DRAM and stored there as fast as an H100 does
// (deploy/calibrate pieces.scan).
func TestPiecesOfSectorsAgainstH100(t *testing.T) {
	type measurement struct {
		Name   string
		Params struct {
			BlockD int `json:"block_d"`
			Warps  int
			Part   string
		}
		Value float64
	}
	const (
		line  = 128.0 / 27.8                 // cycles of an SM (arch h100: 3675 bytes a cycle of 132)
		whole = 8.0                          // the same of a line that is stored (stores.partial)
		words = 8 * 2048 * 2048 / 8          // of 16 bytes, of each array
		clock = 1980.0                       // MHz
		perSM = float64(words) / 132 / clock // microseconds for each cycle that a word takes
	)
	s := New(Spec{Granule: 64, L2Read: 128 / line, L2Write: 128 / whole, Port: 1e3, DRAM: 1e3, Crossing: 0.5, Apart: 1})
	_, stores := s.WriteCycles(1, AllInPart)
	want := map[string]float64{
		"loadonly":  2 * perSM * s.LookupCycles(1, 0.25, 4), // one read of four brings the granule
		"storeonly": perSM * stores,
	}
	checked := 0
	for _, m := range measured.Records[measurement](t, "../../../deploy/calibrate/results/h100-pieces.jsonl.gz") {
		got, ok := want[m.Params.Part]
		if m.Name != "pieces.scan" || m.Params.BlockD != 8 || m.Params.Warps != 4 || !ok {
			continue
		}
		if off := math.Abs(got/m.Value - 1); off > 0.1 {
			t.Errorf("%s: %.1f us, measured %.1f", m.Params.Part, got, m.Value)
		}
		checked++
	}
	if checked != 2 {
		t.Errorf("%d measurements", checked)
	}
}
