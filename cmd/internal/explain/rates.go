package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir/flop"
)

// Rate is what a unit achieves, and its peak.
type Rate struct {
	Unit     string  `json:"unit"`
	Achieved float64 `json:"achieved"`
	Peak     float64 `json:"peak"`
	Per      string  `json:"per"` // of both: "bytes/s" or "FLOP/s"
	// Bytes is what it moves, or FLOP what it does, in a launch.
	Bytes float64 `json:"bytes,omitempty"`
	FLOP  float64 `json:"flop,omitempty"`
	// Intensity is FLOP for each byte of DRAM, Ridge that from which on the unit and not DRAM bounds.
	Intensity float64 `json:"flop_per_dram_byte,omitempty"`
	Ridge     float64 `json:"ridge_flop_per_dram_byte,omitempty"`

	bound string // what bounds the launch, in words, where that is neither DRAM nor arithmetic
}

// Text is a rate in words.
func (r *Rate) Text() string {
	unit := map[string]string{"bytes/s": "B/s", "FLOP/s": "FLOP/s"}[r.Per]
	text := fmt.Sprintf("%s: %s, %.0f %% of a peak of %s", r.Unit, scaled(r.Achieved, unit), 100*r.Achieved/max(r.Peak, 1), scaled(r.Peak, unit))
	if r.Unit == "DRAM" && r.Bytes == 0 {
		text += ": all is found in L2, where the launch before left it"
	}
	if r.Bytes > 0 {
		text += "; " + scaled(r.Bytes, "B") + " " + moved[r.Unit]
	}
	if r.Ridge > 0 {
		side := "memory side"
		if r.Intensity > r.Ridge {
			side = "compute side"
		}
		text += fmt.Sprintf("; %.3g FLOP for each byte of DRAM, ridge at %.3g: %s of the roofline", r.Intensity, r.Ridge, side)
		if r.bound != "" {
			text += ", but this launch is bound by " + r.bound
		}
	}
	return text
}

// moved is what the bytes of a level of memory are.
var moved = map[string]string{
	"DRAM": "read and written in a launch", "L2": "between the SMs and L2 in a launch; the peak is for this mix of reads and writes",
	"L1 and shared memory": "in a launch, 128 bytes counted for each wavefront, used or not",
}

// Bytes is an amount of data in words.
func Bytes(v float64) string { return scaled(v, "B") }

// scaled is a number with a decimal prefix.
func scaled(v float64, unit string) string {
	for _, p := range []string{"", "k", "M", "G", "T", "P"} {
		if v < 1000 || p == "P" {
			return strings.TrimSuffix(fmt.Sprintf("%.3g %s%s", v, p, unit), " ")
		}
		v /= 1000
	}
	return ""
}

const sectorBytes = 32

// betweenL1AndL2 is the bytes that SMs read from L2 and write to it. L2 looks up more sectors than that: of reads that
// cross between its halves each half looks one up.
func betweenL1AndL2(r *simengine.Report) float64 {
	return r.Metrics["l1tex__m_xbar2l1tex_read_bytes.sum"] + r.Metrics["l1tex__m_l1tex2xbar_write_bytes.sum"]
}

// shareOf is how near a unit comes to its peak, 0 where that is not known.
func shareOf(r *simengine.Report, unit string) float64 {
	for _, u := range r.Use {
		if u.Name == unit {
			return u.Value
		}
	}
	return 0
}

// rates are those of the memory hierarchy, from DRAM up, and of arithmetic by type.
func rates(s *Subject) []Rate {
	m, d := s.Report.Metrics, s.Arch
	seconds := m["gpu__time_duration.sum"] / 1e9
	if seconds <= 0 {
		return nil
	}
	dram := m["dram__bytes_read.sum"] + m["dram__bytes_write.sum"]
	l2 := betweenL1AndL2(s.Report)
	const lineBytes = 128
	l1 := lineBytes * m["l1tex__data_pipe_lsu_wavefronts.sum"]
	var out []Rate
	for i, p := range MemoryPeaks(d) {
		r := Rate{Unit: p.Unit, Bytes: []float64{dram, l2, l1}[i], Peak: p.PerSecond, Per: "bytes/s"}
		r.Achieved = r.Bytes / seconds
		// What a unit does at most depends on what it is asked for: L2 takes longer for a byte written than for one read.
		if share := shareOf(s.Report, p.Bound); share > 0 && r.Achieved > 0 {
			r.Peak = r.Achieved / share
		}
		out = append(out, r)
	}
	for _, f := range flops(s.Report) {
		peak := flopPerSecond(d, f.kind)
		if peak <= 0 || f.flop <= 0 {
			continue
		}
		r := Rate{Unit: f.kind, Achieved: f.flop / seconds, Peak: peak, Per: "FLOP/s", FLOP: f.flop}
		if dram > 0 {
			r.Intensity, r.Ridge, r.bound = f.flop/dram, peak/d.DRAMBytesPerSecond, offRoofline(s.Report)
		}
		out = append(out, r)
	}
	return out
}

// offRoofline is what bounds a launch, in words, where a roofline has no line for it.
func offRoofline(r *simengine.Report) string {
	switch r.Bound {
	case "dram", "fma", "fp64", "half", "tensor", "issue":
		return ""
	}
	return BoundWords(r.Bound)
}

// work is the floating-point operations of a kind.
type work struct {
	kind string
	flop float64
}

// flops counts floating-point operations by type, the most first: one for each addition and multiplication.
func flops(r *simengine.Report) []work {
	sum := map[string]float64{}
	for i := range r.Lines {
		for _, in := range r.Lines[i].Instructions {
			if kind, n := flopOf(in.PTX, in.ActiveLanes); n > 0 {
				sum[kind] += n * in.Executions
			}
		}
	}
	for _, o := range r.Operations { // at level model, which has no lines
		sum[o.Kind] += o.Count
	}
	var out []work
	for kind, n := range sum {
		out = append(out, work{kind, n})
	}
	slices.SortFunc(out, func(a, b work) int {
		if a.flop != b.flop && a.flop > b.flop {
			return -1
		} else if a.flop < b.flop {
			return 1
		}
		return strings.Compare(a.kind, b.kind)
	})
	return out
}

// flopOf is the operations of one execution of a PTX instruction by a warp with so many active lanes.
func flopOf(text string, lanes float64) (kind string, n float64) {
	f := flop.Of(opcode(text))
	return f.Kind, f.Lane*lanes + f.Warp
}

// peakFLOP is the operations of a kind that an SM does in a cycle.
func peakFLOP(d *arch.Descriptor, kind string) float64 {
	switch kind {
	case "fp32":
		return 2 * d.Lanes[arch.LaneFP32]
	case "fp64":
		return 2 * d.Lanes[arch.LaneFP64]
	case "half":
		return 4 * d.Lanes[arch.LaneHalf] // lanes of two elements
	case "tensor cores, fp64":
		return d.TensorDoubleRate * 2 * 8 * 8 * 4
	}
	depth := 16.0 // of halves
	switch kind {
	case "tensor cores, tf32":
		depth = 8
	case "tensor cores, fp8", "tensor cores, int8":
		depth = 32
	}
	return max(d.TensorRate*2*16*8*depth, d.WgmmaColumns*2*64*depth)
}
