package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// What DRAM reads and writes of a launch after others of the same kernel must be what it does on an H100, of
// data that streaming loads and stores touch and of other data beside it (deploy/calibrate streams).
func TestStreamingAgainstH100(t *testing.T) {
	records := measured.Records[struct {
		Name   string
		Params map[string]any
		Value  float64
	}](t, "../../../deploy/calibrate/results/h100.jsonl.gz")
	const mib = 1 << 20
	d := &Device{L2Bytes: 50 * mib, Kept: 0.62, KeptUntil: 0.84} // arch h100
	off, checked := map[string]float64{}, map[string]int{}
	for _, r := range records {
		if r.Name != "streams.dram_read" && r.Name != "streams.dram_written" {
			continue
		}
		param := func(name string) float64 { v, _ := r.Params[name].(float64); return v }
		streamed, kept, written := mib*param("streamed"), mib*param("kept"), mib*param("written")
		var f footprint
		f.add(streamed, true, param("streaming_loads") > 0)
		f.add(kept, true, false)
		f.add(written, false, param("streaming_stores") > 0)
		f.written = written
		var p Plan
		p.keep(&f, d)
		got := written * (1 - p.dirty)
		if r.Name == "streams.dram_read" {
			ofStream := p.Kept
			if param("streaming_loads") > 0 {
				ofStream = p.keptStreamed
			}
			got = streamed*(1-ofStream) + kept*(1-p.Kept)
		}
		e := math.Abs(got - r.Value)
		if e > 14*mib {
			t.Errorf("%s %v: %.1f MiB, measured %.1f", r.Name, r.Params, got/mib, r.Value/mib)
		}
		off[r.Name] += e / mib
		checked[r.Name]++
	}
	for name, n := range checked {
		if mean := off[name] / float64(n); n < 200 || mean > 2.5 {
			t.Errorf("%s: %.1f MiB off in the mean of %d", name, mean, n)
		}
	}
}
