package coalesce

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// copied is the global side of a cp.async of 16 bytes a lane, as a recorder sees it.
func copied(r *Recorder, from, to *Lanes) []trace.Line {
	r.Begin(0, 1)
	r.Access(0, 0, ir.Global, 16, all, from)
	r.Access(0, 0, ir.Shared, 16, all, to)
	return r.CTA().Warps[0].Lines
}

func copies(past bool) *Recorder {
	in := ir.Instr{Op: ir.CpAsync}
	if past {
		in.Mod = ir.ModBypassL1
	}
	return NewRecorder(&ir.Kernel{Instrs: []ir.Instr{in}}, 4)
}

// Copies of rows to rows of another pitch must fetch as many sectors as an H100 and an H200 do
// (deploy/calibrate asyncs.l1_arrived), each eighth time to where the first went.
func TestCopiesFetchAsMeasured(t *testing.T) {
	type measurement struct {
		Name   string
		Params map[string]any
		Value  float64
	}
	checked := 0
	for _, gpu := range []string{"h100", "h200"} {
		records := measured.Records[measurement](t, "../../../deploy/calibrate/results/"+gpu+".jsonl.gz")
		for _, m := range records {
			if m.Name != "asyncs.l1_arrived" || m.Params["op"] != "cg" || m.Params["row"] == nil {
				continue
			}
			row, pitch := int(m.Params["row"].(float64)), int(m.Params["pitch"].(float64))
			rec, sectors := copies(true), 0
			for slot := range 8 {
				to := slot * 512 / row * pitch
				for _, l := range copied(rec, lanes(1<<20, func(l int) int { return l*16/row*max(row, 128) + l*16%row }),
					lanes(uint64(to), func(l int) int { return l*16/row*pitch + l*16%row })) {
					sectors += bits.OnesCount8(l.Sectors) + l.Again()
				}
			}
			want := m.Value / m.Params["requests"].(float64) / m.Params["ctas"].(float64)
			if got := float64(sectors) / 8; got != want {
				t.Errorf("%s: rows of %d bytes, %d apart: %.2f sectors a request, measured %.2f", gpu, row, pitch, got, want)
			}
			checked++
		}
	}
	if checked < 80 {
		t.Errorf("%d measurements", checked)
	}
}

// What is fetched twice must not depend on what the recorder saw before, and be nothing for copies through L1.
func TestCopiesDoNotRemember(t *testing.T) {
	const seed = 3
	random := rand.New(rand.NewPCG(seed, 0))
	used, through := copies(true), copies(false)
	for n := range 2000 {
		row, shift := 16<<random.IntN(6), uint64(random.IntN(64))*16
		from := lanes(uint64(random.IntN(16))*128, func(l int) int { return l*16/row*256 + l*16%row })
		to := lanes(shift, func(l int) int { return l*16/row*(row+16) + l*16%row })
		got, want := copied(used, from, to), copied(copies(true), from, to)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("seed %d, copy %d: line %d is %+v, of a new recorder %+v", seed, n, i, got[i], want[i])
			}
		}
		for _, l := range copied(through, from, to) {
			if l.Twice != 0 {
				t.Fatalf("seed %d, copy %d: %+v through L1", seed, n, l)
			}
		}
	}
}

// Rows that are one and the same must be fetched once for each place that they go to.
func TestCopiesOfOneRow(t *testing.T) {
	for row, want := range map[int]trace.Line{32: {Sectors: 1, Times: 16}, 64: {Sectors: 3, Times: 8}, 128: {Sectors: 0xf, Times: 4}} {
		lines := copied(copies(true), lanes(1<<20, func(l int) int { return l * 16 % row }), lanes(0, func(l int) int { return l * 16 }))
		if len(lines) != 1 || lines[0].Sectors != want.Sectors || lines[0].Times != want.Times || bits.OnesCount8(want.Sectors)+lines[0].Again() != 16 {
			t.Errorf("rows of %d bytes: %+v", row, lines)
		}
	}
}
