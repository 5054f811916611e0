package timing

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
)

// constMisses is what a line of a table takes of an SM that lanes read at places of their own, cycles beyond those of
// the words, by the table's bytes: an H100 with 32 warps takes 2.0 cycles for each of 32 lanes' words in tables of up to 2 KiB,
// and 2.8, 4.5, 6.1, 7.5 and 9.7 where each is in a line of its own of 4, 8, 16, 32 and 64 KiB; of four words a
// line as much a line (deploy/calibrate constants.apart). Other GPUs are taken to be alike.
var constMisses = []struct{ bytes, cycles float64 }{{2048, 0}, {4096, 0.83}, {8192, 2.55}, {16384, 4.06}, {32768, 5.54}, {65536, 7.72}}

// ConstantMiss is that for a kernel's tables, cycles; between sizes that were measured by the logarithm.
func ConstantMiss(k *ir.Kernel) float64 {
	size := float64(k.ConstBytes)
	for i, m := range constMisses {
		if size > m.bytes {
			continue
		}
		if i == 0 {
			return 0
		}
		p := constMisses[i-1]
		return p.cycles + (m.cycles-p.cycles)*math.Log2(size/p.bytes)/math.Log2(m.bytes/p.bytes)
	}
	return constMisses[len(constMisses)-1].cycles
}
