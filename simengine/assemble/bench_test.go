package assemble

import (
	"path/filepath"
	"testing"
)

// BenchmarkAssemble assembles register-tiled matrix multiplications of 600 to
// 3,000 machine instructions, without and with a cap that spills.
func BenchmarkAssemble(b *testing.B) {
	dir := sharedDir(b)
	c := openCorpus(b, filepath.Join(dir, "ptx.zip"))
	for _, bm := range []struct {
		name, ptx string
		cap       int
	}{
		{"small", "copy-408a92f6f43d", 0},
		{"medium", "sgemm-25b729b06491", 0},
		{"large", "sgemm-5fb9b2969bb9", 0},
		{"spilling", "sgemm-c52d5a1056d9", 64},
	} {
		k := c.Kernel(b, bm.ptx)
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				p, err := Assemble(k, Options{CC: [2]int{9, 0}, MaxRegisters: bm.cap})
				if err != nil {
					b.Fatal(err)
				}
				n += p.CodeBytes / 16
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "insts/s")
		})
	}
}

// BenchmarkCaps assembles a kernel under four caps in a row, which share what does
// not depend on them.
func BenchmarkCaps(b *testing.B) {
	c := openCorpus(b, filepath.Join(sharedDir(b), "ptx.zip"))
	k := c.Kernel(b, "sgemm-25b729b06491")
	b.ReportAllocs()
	for b.Loop() {
		p, err := Prepare(k, hopper)
		if err != nil {
			b.Fatal(err)
		}
		for _, limit := range []int{0, 64, 96, 128} {
			if _, err := p.Assemble(Options{CC: [2]int{9, 0}, MaxRegisters: limit}); err != nil {
				b.Fatal(err)
			}
		}
	}
}
