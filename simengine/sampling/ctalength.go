package sampling

import (
	"math"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// Length is how much work warps are: their PTX instructions, and those of them that access
// device memory. Of two CTAs with as many instructions one may have no loads.
type Length struct{ Instructions, Requests float64 }

// requestCost is a request in instructions: what the four schedulers of an SM issue while it gets
// a line of 128 bytes at its share of L2's bandwidth, 32 bytes a cycle (h200, l2_bandwidth by 132 SMs).
const requestCost = 16

// Scalar is one number for a length, in instructions.
func (l Length) Scalar() float64 { return l.Instructions + requestCost*l.Requests }

// off is the share by which a length differs from another, by its instructions or by its scalar,
// whichever is more.
func (l Length) off(than Length) float64 {
	return max(off(l.Instructions, than.Instructions), off(l.Scalar(), than.Scalar()))
}

func off(of, than float64) float64 { return math.Abs(of/math.Max(than, 1) - 1) }

// times is n times a length.
func (l Length) times(n float64) Length { return Length{n * l.Instructions, n * l.Requests} }

// LengthOf is the length of traced warps. Iterations that the trace leaves out count.
func LengthOf(k *ir.Kernel, warps []trace.Warp) (sum Length) {
	var weight []int64
	requests := make([]int64, len(k.Blocks))
	for i := range k.Blocks {
		requests[i] = requestsOf(k, &k.Blocks[i])
	}
	for i := range warps {
		w := &warps[i]
		weight = coalesce.Weights(w, weight)
		for j, s := range w.Steps {
			b := &k.Blocks[s.Block]
			sum.Instructions += float64(weight[j] * int64(b.End-b.Start))
			sum.Requests += float64(weight[j] * requests[s.Block])
		}
	}
	return sum
}

// requestsOf is how many instructions of a block access device memory.
func requestsOf(k *ir.Kernel, b *ir.Block) (n int64) {
	for i := b.Start; i < b.End; i++ {
		switch in := &k.Instrs[i]; in.Op {
		case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
			if in.Space == ir.Global || in.Space == ir.Generic {
				n++
			}
		case ir.CpAsync, ir.BulkCopy, ir.Tex, ir.Suld, ir.Sust:
			n++
		}
	}
	return n
}
