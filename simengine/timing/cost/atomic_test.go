package cost

import (
	"math"
	"math/bits"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// Integer additions of whole warps to consecutive ones of so many addresses a
// spacing apart must come at the rate that an H200 takes them. How many lanes share
// a word in each of several sectors of a line is not known (32 bytes apart): the
// most of any word counts once a line.
func TestAtomicsThatMeetAgainstH200(t *testing.T) {
	d := h200(t)
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	cost := m.AtomicCost(float64(d.SMs))
	var sum float64
	var n int
	for _, r := range measured.Of(t, "meetings.atomic") {
		if r.Params["op"] != "add.u32" || r.Params["order"] != "consecutive" {
			continue
		}
		addresses, spacing := r.Int("addresses"), r.Int("spacing")
		a, lines := consecutive(addresses, spacing)
		cycles := 0.0
		for _, l := range lines {
			cycles += cost.Line(a, l.Sectors, float64(addresses*spacing)/float64(d.DRAMPieceBytes), true, false)
		}
		got := float64(d.SMs) * 32 / cycles * d.ClockMHz * 1e-3
		e := math.Log(got / r.Value)
		sum += math.Abs(e)
		n++
		t.Logf("%5d addresses of %3d bytes: %.1f G lanes/s, measured %.1f", addresses, spacing, got, r.Value)
		if math.Abs(e) > math.Log(1.7) && spacing != 32 {
			t.Errorf("%d addresses of %d bytes: %.1f G lanes/s, measured %.1f", addresses, spacing, got, r.Value)
		}
	}
	if mean := sum / float64(n); mean > 0.25 {
		t.Errorf("mean error %.0f %% of %d measurements", 100*mean, n)
	}
}

// Integer additions of warps to places of their own must come at the rate that an H200
// takes them, however far apart lanes are (deploy/calibrate reds.stride, what L2 holds).
func TestAtomicsApartAgainstH200(t *testing.T) {
	d := h200(t)
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	cost := m.AtomicCost(float64(d.SMs))
	for _, r := range measured.Of(t, "reds.stride") {
		words := r.Int("words")
		if r.Int("MiB") != 32 {
			continue
		}
		a, lines := consecutive(32, 4*words)
		cycles := 0.0
		for _, l := range lines {
			cycles += cost.Line(a, l.Sectors, 1<<16, false, false)
		}
		got := float64(d.SMs) * 32 / cycles * d.ClockMHz * 1e-3
		t.Logf("lanes %2d words apart: %.1f G lanes/s, measured %.1f", words, got, r.Value)
		if e := got / r.Value; e < 0.85 || e > 1.2 {
			t.Errorf("lanes %d words apart: %.1f G lanes/s, measured %.1f", words, got, r.Value)
		}
	}
}

// Loads at random and atomics at random beside them must take as long together as an
// H200 takes for both (deploy/calibrate reds.beside).
func TestLoadsBesideAtomicsAgainstH200(t *testing.T) {
	d := h200(t)
	m, err := NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	cost := m.AtomicCost(float64(d.SMs))
	for _, r := range measured.Of(t, "reds.beside") {
		share := dram.New(m.Share(float64(d.SMs), Traffic{RowSegmentShare: 1}))
		const rounds = 4096
		for range rounds {
			for range r.Int("loads") {
				share.Read(0, &dram.Request{Sectors: 1, Held: dram.Fraction})
			}
			for range r.Int("adds") {
				share.Update(0, 0, dram.Ticks(cost.Mean(1)), dram.Ticks(cost.Mean(1)), 0)
			}
		}
		l2, _ := share.Busy()
		got := float64(d.SMs) * rounds * float64(r.Int("loads")) / l2 * d.ClockMHz * 1e-3
		t.Logf("%d atomics: %.1f G loads/s, measured %.1f", r.Int("adds"), got, r.Value)
		if e := got / r.Value; e < 0.9 || e > 1.1 {
			t.Errorf("%d atomics beside %d loads: %.1f G loads/s, measured %.1f", r.Int("adds"), r.Int("loads"), got, r.Value)
		}
	}
}

// consecutive is an atomic of a warp whose lanes take addresses a spacing apart,
// from the first again after the last, and its lines.
func consecutive(addresses, spacing int) (*trace.Access, []trace.Line) {
	var lines []trace.Line
	a := &trace.Access{Space: ir.Global, Width: 4, Mask: ^uint32(0), MaxSame: uint8((31 + addresses) / addresses), Words: uint8(min(32, addresses))}
	for lane := range min(32, addresses) {
		at := lane * spacing
		if n := len(lines); n == 0 || lines[n-1].Addr != uint64(at/128) {
			lines = append(lines, trace.Line{Addr: uint64(at / 128)})
		}
		lines[len(lines)-1].Sectors |= 1 << (at % 128 / 32)
	}
	for _, l := range lines {
		a.Sectors += uint16(bits.OnesCount8(l.Sectors))
	}
	a.NLines = uint16(len(lines))
	return a, lines
}

// Adds in turns to several buffers of few words must come as many times as fast as there are buffers, as on an
// H200 and an H100 (deploy/calibrate meetings.turns): each buffer's lie on slices of their own.
func TestAtomicsOnSeveralBuffers(t *testing.T) {
	d := h200(t)
	for _, gpu := range []string{"h100", "h200"} {
		alone := map[int]float64{}
		for _, r := range measured.On(t, gpu, "meetings.turns") {
			buffers, addresses := r.Int("buffers"), r.Int("addresses")
			if addresses > 512 {
				continue // all slices together are what takes time
			}
			if buffers == 1 {
				alone[addresses] = r.Value
				continue
			}
			m, err := NewMachine(d)
			if err != nil {
				t.Fatal(err)
			}
			share := dram.New(m.Share(float64(d.SMs), Traffic{RowSegmentShare: 1}))
			const rounds, cost = 1000, 64
			for range rounds {
				for b := range buffers {
					share.Update(0, int32(b), cost*dram.Fraction, 0, 0)
				}
			}
			l2, _ := share.Busy()
			got := float64(buffers) * rounds * cost / l2
			if want := r.Value / alone[addresses]; math.Abs(got/want-1) > 0.25 {
				t.Errorf("%s: %d buffers of %d words: %.1f times as fast, measured %.1f", gpu, buffers, addresses, got, want)
			}
		}
	}
}

// Lanes of a warp that add to a word of their warp alone wait for each other, however many words these lanes share.
// Four words of eight lanes must take as long as measured for one of 29 (deploy/calibrate atomic.meet
// address_per_warp: what counts is the lanes beyond the first of each word).
func TestLanesOfOneWordWait(t *testing.T) {
	m, err := NewMachine(h200(t))
	if err != nil {
		t.Fatal(err)
	}
	c := m.AtomicCost(float64(m.Arch.SMs))
	cost := func(lanes, words int) float64 {
		a := &trace.Access{Space: ir.Global, Width: 4, Mask: uint32(1<<lanes - 1), MaxSame: uint8(lanes / words), Words: uint8(words), NLines: 1, Sectors: 1}
		return c.Line(a, 1, 1<<16, false, false)
	}
	if four, one := cost(32, 4), cost(29, 1); four != one {
		t.Errorf("four words of eight lanes take %.1f cycles, one of 29 %.1f", four, one)
	}
	for _, r := range measured.Of(t, "atomic.meet") {
		lanes := r.Int("lanes")
		if r.Text("op") != "add.u32" || r.Text("where") != "address_per_warp" {
			continue
		}
		got := float64(m.Arch.SMs) * float64(lanes) / cost(lanes, 1) * m.Arch.ClockMHz * 1e-3
		if off := math.Abs(math.Log(got / r.Value)); lanes > 1 && off > math.Log(1.3) {
			t.Errorf("%d lanes of one word: %.1f G lanes/s, measured %.1f", lanes, got, r.Value)
		}
	}
}
