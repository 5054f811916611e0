package exec

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/exec/internal/code"
)

// MatchCount is how many different values the lanes had that executed a match.any.
type MatchCount struct {
	PC     int
	Warps  int64 // executions by a warp
	Values int64 // the different values of each, added up
}

// Matches is what runs of a program by CompileCounting counted since the runner was made, for the
// instructions that warps executed. PCs ascend.
func (r *Runner) Matches() []MatchCount {
	return slices.DeleteFunc(slices.Clone(r.matches), func(m MatchCount) bool { return m.Warps == 0 })
}

// countValues counts the different values among the lanes of a match.
func (r *Runner) countValues(w *warp, in *code.Instr, mask uint32) signal {
	m := &r.matches[in.X.Imm]
	m.Warps++
	for left := mask; left != 0; {
		v := w.get(in.X.Src[0], bits.TrailingZeros32(left))
		for n := left; n != 0; n &= n - 1 {
			if l := bits.TrailingZeros32(n); w.get(in.X.Src[0], l) == v {
				left &^= 1 << l
			}
		}
		m.Values++
	}
	return next
}
