package exec

import "github.com/warptune/warptune/simengine/ir"

// Loop is a natural loop of the kernel.
type Loop struct {
	Head   int
	blocks []bool
}
type loopKey struct{}
type loopRun struct{ active bool }

func findLoops(k *ir.Kernel, needed []bool) []Loop       { return nil }
func (l *Loop) watched() []ir.Reg                        { return nil }
func (l *Loop) first(k *ir.Kernel) int                   { return 0 }
func (l *Loop) last(k *ir.Kernel) int                    { return 0 }
func (r *Runner) enterBlock(w *warp, b *block, t *frame) {}
func (r *Runner) forbidBarrierLoops(bool)                {}
