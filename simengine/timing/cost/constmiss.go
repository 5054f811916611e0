package cost

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

// constLine is the bytes of a line of the constant caches.
const constLine = 64

// constMisses is what a line of a table in constant memory takes of an SM where lanes read
// places of their own, cycles beyond those of the words, by the table's bytes.
//
// In order: an H100 with 32 warps takes 2.0 cycles for each of 32 lanes' words in tables of up to 2 KiB. Of tables of
// 4, 8, 16, 32 and 64 KiB it takes 2.8, 4.5, 6.1, 7.5 and 9.7, if the lanes go through their lines in order, one line
// a lane. With four words a line it takes the same for each line (deploy/calibrate constants.apart). Drawn: at random
// places it takes 8.3, 17.8, 24.2, 28.0 and 29.9 with all SMs busy (constants.drawn, bytes and words alike). Other
// GPUs are taken to be alike.
var constMisses = []struct{ bytes, inOrder, drawn float64 }{
	{2048, 0, 0}, {4096, 0.83, 6.3}, {8192, 2.55, 15.8}, {16384, 4.06, 22.2}, {32768, 5.54, 26.0}, {65536, 7.72, 27.9},
}

// ConstantMiss is what a line of a table of so many bytes takes, cycles, where lanes go through
// it in order and where they do not. Between measured sizes it is linear in the logarithm of
// the size.
func ConstantMiss(bytes float64) (inOrder, drawn float64) {
	for i, m := range constMisses {
		if bytes > m.bytes {
			continue
		}
		if i == 0 {
			return 0, 0
		}
		p := constMisses[i-1]
		at := math.Log2(bytes/p.bytes) / math.Log2(m.bytes/p.bytes)
		return p.inOrder + (m.inOrder-p.inOrder)*at, p.drawn + (m.drawn-p.drawn)*at
	}
	last := constMisses[len(constMisses)-1]
	return last.inOrder, last.drawn
}

// ConstTable estimates the size of the table in constant memory that the lanes of CTAs read at
// places of their own.
type ConstTable struct {
	lines map[int32]bool // where the first lane read
	reads int
}

// Add counts a warp's reads.
func (t *ConstTable) Add(w *trace.Warp) {
	for i := range w.Accesses {
		if a := &w.Accesses[i]; a.Space == ir.Const && a.Passes > 1 {
			if t.lines == nil {
				t.lines = map[int32]bool{}
			}
			t.lines[a.First/constLine] = true
			t.reads++
		}
	}
}

// Bytes is the size of a table of which so many reads touch as many lines as were seen, if each line is as likely as
// the other. Of n lines, r reads see n(1 - e^(-r/n)), which is solved for n by bisection. It is at most what the
// kernel has of constant memory.
func (t *ConstTable) Bytes(k *ir.Kernel) float64 {
	least, most := float64(len(t.lines)), math.Max(float64(k.ConstBytes)/constLine, 1)
	reads := float64(t.reads)
	for most-least > 0.5 {
		n := (least + most) / 2
		if n*-math.Expm1(-reads/n) < float64(len(t.lines)) {
			least = n
		} else {
			most = n
		}
	}
	return least * constLine
}

// Miss is ConstantMiss of a kernel's table.
func (t *ConstTable) Miss(k *ir.Kernel) (inOrder, drawn float64) { return ConstantMiss(t.Bytes(k)) }
