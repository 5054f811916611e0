package footprint

import (
	"math"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results/measured"
)

// TestScatteredStoresTakeWhatWasMeasured: words stored to sectors so many bytes apart by CTAs of 256 threads, over
// arrays many times L2, take DRAM within a fifth of what an H200 and an H100 took (deploy/calibrate rows.stride
// write, stores.spilled). Sectors of every 64 bytes do not. Those are half of their pieces, which counts as whole
// (wholeRowSegment), and take 0.73 and 0.80 times what was measured.
func TestScatteredStoresTakeWhatWasMeasured(t *testing.T) {
	const half = 64 // bytes apart
	for _, c := range []struct {
		file    string
		writing float64 // bytes/s: simengine/arch/data dram_bandwidth by dram_write_efficiency
	}{
		{"h200.jsonl.gz", 4.814304e12 * 0.921},
		{"h100.jsonl.gz", 3.35232e12 * 0.957},
	} {
		checked := 0
		for stride, measured := range scatteredStores(t, "../../../deploy/calibrate/results/"+c.file) {
			b := stored([3]int{65536, 1, 1}, nil, func(x, y int, touch func(int32, uint64, uint8)) {
				for i := range uint64(256) {
					at := (uint64(x)*256 + i) * uint64(stride)
					touch(0, at/128, 1<<(at%128/32))
				}
			})
			took := b.Time * 64 / c.writing * 1e12
			t.Logf("%s: a word of every %4d bytes in %.1f ps, measured %.1f", c.file, stride, took, measured)
			off := 0.2
			if stride == half {
				off = 0.3
			}
			if math.Abs(took/measured-1) > off {
				t.Errorf("%s: a word of every %d bytes takes %.1f ps, measured %.1f", c.file, stride, took, measured)
			}
			checked++
		}
		if checked == 0 {
			t.Errorf("%s has no measurement of scattered stores", c.file)
		}
	}
}

// scatteredStores are the ps a sector that stores of one word of each took, by the bytes from one to
// the next: 64 and more, up to 1 KiB.
func scatteredStores(t *testing.T, path string) map[int]float64 {
	t.Helper()
	records := measured.Records[struct {
		Name   string
		Params map[string]any
		Value  float64
	}](t, path)
	out := map[int]float64{}
	for _, m := range records {
		number := func(name string) int {
			v, _ := m.Params[name].(float64)
			return int(v)
		}
		stride, ps := 4*number("apart"), m.Value
		switch {
		case m.Name == "rows.stride" && m.Params["mode"] == "write":
			stride, ps = number("stride"), 1000/m.Value // of G elements/s
		case m.Name != "stores.spilled" || number("words") != 1:
			continue
		}
		if stride >= 64 && stride <= 1024 {
			out[stride] = ps
		}
	}
	return out
}
