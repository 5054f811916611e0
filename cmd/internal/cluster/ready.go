package cluster

import (
	"context"
	"errors"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Ready says why this machine cannot evaluate a spec's configurations, nil if it
// can: it compiles the first of them. A source that does not compile is not the
// machine's fault, and no error.
func Ready(ctx context.Context, def *kernel.Definition, d *arch.Descriptor, spec *tuner.Spec) error {
	space, err := def.SpaceUntil(spec.Problem, spec.Set, ctx.Err)
	if err != nil || space.Size() == 0 {
		return err
	}
	c, err := compile.New(compile.Options{Compiler: spec.Compiler})
	if err != nil {
		return err
	}
	launch, err := def.Launch(space.At(0), spec.Problem)
	if err != nil {
		return nil //nolint:nilerr // the configuration's own
	}
	_, err = c.Compile(ctx, compile.Request{Compile: launch.Compile, Target: compile.Target(d.CC[0], d.CC[1])})
	var refused *compile.Error
	if errors.As(err, &refused) {
		return nil
	}
	return err
}
