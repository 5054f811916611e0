package assemble

import (
	"testing"
)

// Vectors of 16 bytes in flight cost a step of occupancy (channel_norm with the partial sums of four
// channels at a time), words do not, and under a cap nothing is taken that there is not.
func TestOccupancyOverrun(t *testing.T) {
	c := openCorpus(t, measuredArchives(t)...)
	for _, x := range []struct {
		ptx              string
		limit, low, high int
	}{
		{"channel_norm-6f34c9585c3f", 0, 33, 40}, // 34 of ptxas
		{"channel_norm-6f34c9585c3f", 32, 1, 32},
		{"channel_norm-e7d801d2040e", 0, 17, 32},
	} {
		if c.Files[x.ptx] == nil {
			t.Skipf("%s is in an archive that was not fetched: \"make data\" brings it", x.ptx)
		}
		p, err := Assemble(c.Kernel(t, x.ptx), Options{CC: [2]int{9, 0}, MaxRegisters: x.limit})
		if err != nil {
			t.Fatal(err)
		}
		if p.Registers < x.low || p.Registers > x.high || p.SpillBytes > 0 {
			t.Errorf("%s cap %d: %d registers, %d bytes spilled, want %d to %d registers", x.ptx, x.limit, p.Registers, p.SpillBytes, x.low, x.high)
		}
	}
}
