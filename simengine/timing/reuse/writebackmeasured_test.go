package reuse

import (
	"bufio"
	"encoding/json"
	"math"
	"os"
	"testing"
)

// TestStrewnStoresTakeWhatWasMeasured: words stored to sectors so many bytes apart by CTAs of 256
// threads, over arrays many times L2, take DRAM within a fifth of what an H200 and an H100 took
// (deploy/calibrate rows.stride write, stores.spilled), but for sectors of every 64 bytes: those are half of
// their pieces, which counts as whole (wholePiece), and take 0.73 and 0.80 times what was measured.
func TestStrewnStoresTakeWhatWasMeasured(t *testing.T) {
	const half = 64 // bytes apart
	for _, c := range []struct {
		file    string
		writing float64 // bytes/s: simengine/arch/data dram_bandwidth by dram_write_efficiency
	}{
		{"h200.jsonl", 4.814304e12 * 0.921},
		{"h100.jsonl", 3.35232e12 * 0.957},
	} {
		checked := 0
		for stride, measured := range strewnStores(t, "../../../deploy/calibrate/results/"+c.file) {
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
			t.Errorf("%s has no measurement of strewn stores", c.file)
		}
	}
}

// strewnStores are the ps a sector that stores of one word of each took, by the bytes from one to
// the next: 64 and more, up to 1 KiB.
func strewnStores(t *testing.T, path string) map[int]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[int]float64{}
	for s := bufio.NewScanner(f); s.Scan(); {
		var m struct {
			Name   string
			Params struct {
				Mode                 any
				Stride, Words, Apart int
			}
			Value float64
		}
		if json.Unmarshal(s.Bytes(), &m) != nil {
			continue
		}
		stride, ps := 4*m.Params.Apart, m.Value
		switch {
		case m.Name == "rows.stride" && m.Params.Mode == "write":
			stride, ps = m.Params.Stride, 1000/m.Value // of G elements/s
		case m.Name != "stores.spilled" || m.Params.Words != 1:
			continue
		}
		if stride >= 64 && stride <= 1024 {
			out[stride] = ps
		}
	}
	return out
}
