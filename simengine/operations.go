package simengine

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/flop"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
)

// Operations is floating-point operations of a launch, or integer ones of tensor cores, of a kind as flop.Of names it.
type Operations struct {
	Kind  string  `json:"kind"`
	Count float64 `json:"count"`
}

// operations counts those of the CTAs that stand for the grid, the most first. Guards of single instructions are taken as
// on.
func (r *recording) operations() ([]Operations, error) {
	sample, err := r.sample()
	if err != nil {
		return nil, err
	}
	ids, ctas := sample.IDs, float64(sample.CTAs)
	if len(ids) == 0 {
		ids = []int64{timing.Middle(r.grid())}
	}
	if ctas == 0 {
		ctas = float64(r.launch.Grid.Count())
	}
	blocks := blockOperations(r.kernel)
	sum := map[string]float64{}
	for _, id := range ids {
		c, err := r.cta(id)
		if err != nil {
			return nil, err
		}
		for i := range c.Warps {
			w := &c.Warps[i]
			for j, n := range coalesce.Weights(w, nil) {
				lanes := float64(bits.OnesCount32(w.Steps[j].Mask))
				for _, o := range blocks[w.Steps[j].Block] {
					sum[o.Kind] += (o.Lane*lanes + o.Warp) * float64(n) * ctas / float64(len(ids))
				}
			}
		}
	}
	out := make([]Operations, 0, len(sum))
	for kind, n := range sum {
		out = append(out, Operations{kind, n})
	}
	slices.SortFunc(out, func(a, b Operations) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind)) })
	return out, nil
}

// blockOperations is the operations of one execution of each block.
func blockOperations(k *ir.Kernel) [][]flop.Operations {
	out := make([][]flop.Operations, len(k.Blocks))
	for b := range k.Blocks {
		for pc := k.Blocks[b].Start; pc < k.Blocks[b].End; pc++ {
			if o := flop.Of(k.Instrs[pc].Opcode()); o.Kind != "" {
				out[b] = append(out[b], o)
			}
		}
	}
	return out
}
