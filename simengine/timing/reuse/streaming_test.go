package reuse

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
)

// What DRAM reads and writes of a launch after others of the same kernel must be what it does on an H100, of data that streaming
// loads and stores touch and of other data beside it (deploy/calibrate streams).
func TestStreamingAgainstH100(t *testing.T) {
	type measurement struct {
		Name   string
		Params map[string]float64
		Value  float64
	}
	all, err := results.Read[struct {
		Name   string
		Params map[string]any
		Value  float64
	}]("../../../deploy/calibrate/results/h100.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	const mib = 1 << 20
	d := &Device{L2Bytes: 50 * mib, Kept: 0.62, KeptUntil: 0.84} // arch h100
	off, checked := map[string]float64{}, map[string]int{}
	for _, r := range all {
		if r.Name != "streams.dram_read" && r.Name != "streams.dram_written" {
			continue
		}
		m := measurement{r.Name, map[string]float64{}, r.Value}
		for k, v := range r.Params {
			m.Params[k] = v.(float64) * mib
		}
		streamed, kept, written := m.Params["streamed"], m.Params["kept"], m.Params["written"]
		var f footprint
		f.add(streamed, true, m.Params["streaming_loads"] > 0)
		f.add(kept, true, false)
		f.add(written, false, m.Params["streaming_stores"] > 0)
		f.written = written
		var p Plan
		p.keep(&f, d)
		got := written * (1 - p.dirty)
		if m.Name == "streams.dram_read" {
			ofStream := p.Kept
			if m.Params["streaming_loads"] > 0 {
				ofStream = p.keptStreamed
			}
			got = streamed*(1-ofStream) + kept*(1-p.Kept)
		}
		e := math.Abs(got - m.Value)
		if e > 14*mib {
			t.Errorf("%s %v: %.1f MiB, measured %.1f", m.Name, r.Params, got/mib, m.Value/mib)
		}
		off[m.Name] += e / mib
		checked[m.Name]++
	}
	for name, n := range checked {
		if mean := off[name] / float64(n); n < 200 || mean > 2.5 {
			t.Errorf("%s: %.1f MiB off in the mean of %d", name, mean, n)
		}
	}
}
