package exec

import (
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/ir"
)

// maxWarnings is how many instructions a runner warns of.
const maxWarnings = 64

// Warnings is the faults that runs with Options.Warn went past since the runner was made: the first
// of each kind by each instruction, 64 at most.
func (r *Runner) Warnings() []fault.Fault { return slices.Clone(r.warnings) }

// passes reports whether a fault of a kind does not end a run with Options.Warn. After a race or an
// uninitialised read the CTA goes on with the values that are there. In Slice mode, where values are
// not known, an apparent race may be none, and stays a fault.
func (r *Runner) passes(kind fault.Kind) bool {
	return r.opt.Warn && (kind == fault.Uninitialised || kind == fault.Race && r.p.Mode == Full)
}

// warned reports whether a fault of a kind was noted for an instruction, or need not be.
func (r *Runner) warned(kind fault.Kind, pc int32) bool {
	return r.opt.Warn && (len(r.warnings) >= maxWarnings || slices.ContainsFunc(r.warnings, func(f fault.Fault) bool { return f.Kind == kind && f.PC == int(pc) }))
}

func (r *Runner) warn(f *fault.Fault) {
	if !r.warned(f.Kind, int32(f.PC)) {
		r.warnings = append(r.warnings, *f)
	}
}

// goPast continues after the fault that check found in an access by the lanes in mask, with
// Options.Warn. It returns the lanes that are out of bounds: what they load is zero (see blank),
// what they store is dropped.
func (r *Runner) goPast(a *code.Access, space ir.Space, mask uint32) (bad uint32, s signal) {
	if !r.opt.Warn || r.fault.Kind != fault.OutOfBounds || a.Matrix {
		return 0, faulted
	}
	r.warn(r.fault)
	r.fault = nil
	for m := mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); !r.inBounds(a, space, r.addr[l]) {
			bad |= 1 << l
		}
	}
	return bad, next
}

// inBounds reports whether a lane's access is in bounds.
func (r *Runner) inBounds(a *code.Access, space ir.Space, addr uint64) bool {
	part := code.Stretch{Lo: 0, Hi: uint64(len(r.shared))}
	switch space {
	case ir.Global:
		return r.meant(a, addr, uint64(a.Width)) != nil
	case ir.Local:
		part.Hi = uint64(r.localBytes)
	case ir.Const:
		part = r.bank(a)
	}
	return part.Holds(addr, uint64(a.Width))
}

// blank puts zeros into what lanes were to load.
func (r *Runner) blank(w *warp, in *code.Instr, lanes uint32) {
	for _, d := range in.X.Dst {
		for m := lanes; m != 0; m &= m - 1 {
			w.put(d, bits.TrailingZeros32(m), 0)
		}
		if r.definedness != nil {
			r.definedness.mark(w, r.p.Register(d), 0, lanes, -1)
		}
	}
}
