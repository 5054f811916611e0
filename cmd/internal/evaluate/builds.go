package evaluate

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/kernel"
)

// Builds builds configurations of a kernel, in their order, without simulating any. It takes of a batch Compiler, Assembler, Arch, Slots,
// Without and Done.
func (b *Batch) Builds(ctx context.Context, def *kernel.Definition, configs []search.Config, problem []int64) ([]Built, error) {
	out := make([]Built, len(configs))
	var next atomic.Int64
	finished := make(chan int)
	g, ctx := errgroup.WithContext(ctx)
	for range max(b.Slots, 1) {
		g.Go(func() error {
			ev := New(b.Compiler)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(configs) {
					return nil
				}
				var err error
				if out[i], err = ev.Build(ctx, Job{Kernel: def, Config: configs[i], Problem: problem, Arch: b.Arch, Without: b.Without, Assembler: b.Assembler}); err != nil {
					return err
				}
				select {
				case finished <- i:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	g.Go(func() error { return b.count(ctx, finished, len(configs)) })
	return out, g.Wait()
}
