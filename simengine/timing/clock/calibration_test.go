package clock

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
)

// inFlight is the kernel of that name in deploy/calibrate/microbench/bandwidth.cu: loads
// independent loads a thread of width bytes, and as many stores or none.
func inFlight(loads, width int, store bool) (*program, func(cta int64, warps int) *trace.CTA) {
	p := &program{}
	p.block()
	p.emit(assemble.S2R, ir.Mov, 0, 0)
	p.emit(assemble.S2R, ir.Mov, 0, 1)
	p.emit(assemble.FMAHeavy, ir.Mad, 0, 2, 0, 1)
	p.emit(assemble.IMADWide, ir.Mad, 0, 3, 2)
	var lds, sts []int32
	for i := range loads {
		lds = append(lds, p.emit(assemble.Load, ir.Ld, ir.Global, 10+i, 3))
	}
	for i := range loads {
		if store {
			sts = append(sts, p.emit(assemble.Store, ir.St, ir.Global, -1, 3, 10+i))
		} else {
			p.emit(assemble.ALU, ir.Setp, 0, 50, 10+i)
		}
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	lines := width / 4
	return p, func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			w := &t.Warps[k]
			w.Steps = []trace.Step{{Block: 0, Mask: ^uint32(0)}}
			for base, pcs := range [][]int32{lds, sts} {
				for i, pc := range pcs {
					a := trace.Access{
						PC: pc, Space: ir.Global, Width: uint8(width), Mask: ^uint32(0), Passes: uint16(lines), Ideal: uint16(lines),
						First: int32(len(w.Lines)), NLines: uint16(lines), Sectors: uint16(4 * lines), MaxSame: 1,
					}
					first := uint64(base)<<40 + ((uint64(cta)*uint64(loads)+uint64(i))*uint64(warps)+uint64(k))*uint64(lines)
					for l := range lines {
						w.Lines = append(w.Lines, trace.Line{Addr: first + uint64(l), Sectors: 0xf, Full: 0xf})
					}
					w.Accesses = append(w.Accesses, a)
				}
			}
		}
		return t
	}
}

// Bandwidth by bytes in flight, from one warp's worth to saturation, with and
// without stores, must be what an H200 gives.
func TestBytesInFlightAgainstH200(t *testing.T) {
	d := h200(t)
	var sum float64
	all := measured.Of(t, "bandwidth.in_flight")
	for i := range all {
		m := &all[i]
		loads, width, store, resident := m.Int("loads"), m.Int("width"), m.Int("store"), m.Int("ctas_per_sm")
		p, tr := inFlight(loads, width, store == 1)
		const grid = 40000
		in := input(d, p, tr, grid, resident, 8)
		in.Cold = true
		r := run(t, in)
		got := float64(grid*256*loads*width*(1+store)) / r.TimeUS * 1e-3
		e := got/m.Value - 1
		sum += math.Abs(e)
		t.Logf("%d loads of %2d B, stores %d, %d CTAs: %6.0f GB/s, measured %6.0f, %+5.1f%%", loads, width, store, resident, got, m.Value, 100*e)
	}
	mean := sum / float64(len(all))
	t.Logf("mean error %.1f%%", 100*mean)
	if mean > 0.1 {
		t.Errorf("mean error %.1f%% of %d measurements", 100*mean, len(all))
	}
}

// How long a CTA holds its slot when it only stores, or loads and stores one
// element a thread, by the CTA's size.
func TestTurnaroundAgainstH200(t *testing.T) {
	d := h200(t)
	var sum float64
	var n int
	all := measured.Of(t, "launch.turnaround")
	for i := range all {
		m := &all[i]
		resident, warps := m.Int("ctas_per_sm"), m.Int("warps")
		kind, _ := m.Params["kernel"].(string)
		if resident > 2 {
			continue // the launch rate is what is measured there
		}
		p, tr := turnaroundKernel(kind)
		ctas := d.SMs * resident * 200
		r := run(t, input(d, p, tr, ctas, resident, warps))
		got := (r.TimeUS - d.LaunchGapUS) * 1000 / 200
		e := got/m.Value - 1
		sum += math.Abs(e)
		n++
		t.Logf("%-10s %d CTAs of %2d warps: %4.0f ns, measured %4.0f, %+5.1f%%", kind, resident, warps, got, m.Value, 100*e)
	}
	if mean := sum / float64(n); mean > 0.12 {
		t.Errorf("mean error %.1f%% of %d measurements", 100*mean, n)
	}
}

// turnaroundKernel is the kernel of deploy/calibrate/microbench/launch.cu.
func turnaroundKernel(kind string) (*program, func(cta int64, warps int) *trace.CTA) {
	p := &program{}
	p.block()
	ld, st := int32(-1), int32(-1)
	if kind != "empty" {
		p.emit(assemble.S2R, ir.Mov, 0, 0)
		p.emit(assemble.S2R, ir.Mov, 0, 1)
		p.emit(assemble.IMADWide, ir.Mad, 0, 2, 0, 1)
		p.emit(assemble.IMADWide, ir.Mad, 0, 3, 2)
	}
	if kind == "load_store" {
		p.emit(assemble.IMADWide, ir.Mad, 0, 4, 2)
		ld = p.emit(assemble.Load, ir.Ld, ir.Global, 5, 4)
		p.emit(assemble.ALU, ir.Add, 0, 6, 5)
	}
	if kind != "empty" {
		st = p.emit(assemble.Store, ir.St, ir.Global, -1, 3, 6)
	}
	p.emit(assemble.Exit, ir.Exit, 0, -1)
	return p, func(cta int64, warps int) *trace.CTA {
		t := &trace.CTA{ID: cta, Warps: make([]trace.Warp, warps)}
		for k := range t.Warps {
			w := &t.Warps[k]
			w.Steps = []trace.Step{{Block: 0, Mask: ^uint32(0)}}
			line := uint64(cta)*uint64(warps) + uint64(k)
			if ld >= 0 {
				row(ld, line, w, false)
			}
			if st >= 0 {
				row(st, 1<<40+line, w, true)
			}
		}
		return t
	}
}

// Words read at random addresses of a buffer must come as fast as an H200 gives
// them: what L2 holds of the buffer and what DRAM gives of single granules.
func TestRandomReadsAgainstH200(t *testing.T) {
	d := h200(t)
	m, err := cost.NewMachine(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range measured.Of(t, "scatter.random") {
		bytes := r.Int("bytes")
		if r.Int("run_bytes") != 4 || bytes <= d.L2Bytes {
			continue // L2 by itself, or other runs
		}
		lines := uint64(bytes / 128)
		s := footprint.New(1, d.DRAMGranule, d.DRAMPieceBytes)
		seed := uint64(1)
		for k := range 5 {
			s.Begin([]footprint.Direction{footprint.Base, footprint.X}[min(k, 1)])
			for range 2048 {
				seed = seed*6364136223846793005 + 1442695040888963407
				s.Touch(0, seed>>20%lines, 1<<(seed>>18&3), false)
			}
		}
		p := s.Plan(footprint.Device{
			Grid: [3]int{1 << 20, 1, 1}, L2Bytes: d.L2Bytes, EffectiveBytes: d.L2EffectiveBytes, Kept: d.L2Kept, KeptUntil: d.L2KeptUntil,
			Extents: []timing.Extent{{First: 0, Last: lines - 1}},
		})
		spec := m.Share(1, cost.Traffic{RowSegmentShare: p.RowSegmentShare})
		got := spec.DRAM / float64(spec.Granule) / p.Read[0] * d.ClockMHz * 1e-3
		e := got/r.Value - 1
		t.Logf("%4d MB: %.0f %% from DRAM, %.1f G reads/s, measured %.1f, %+.0f %%", bytes>>20, 100*p.Read[0], got, r.Value, 100*e)
		if math.Abs(e) > 0.15 {
			t.Errorf("%d MB: %.1f G reads/s, measured %.1f", bytes>>20, got, r.Value)
		}
	}
}
