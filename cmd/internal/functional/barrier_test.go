package functional_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

var barrier = []byte("__syncthreads();")

// A built-in kernel without its barriers is reported as a race, wherever a
// configuration of several warps has a barrier at all.
func TestMissingBarrierIsFound(t *testing.T) {
	clang := needClang(t)
	for _, k := range catalogue.All() {
		if !bytes.Contains(k.Source(), barrier) {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			def, err := k.Definition()
			if err != nil {
				t.Fatal(err)
			}
			tested := 0
			for _, cfg := range choose(t, def, k.Name, 4, true) {
				launch, err := def.Launch(cfg, problem(t, k.Name, cfg))
				if err != nil {
					t.Fatal(err)
				}
				if launch.Block[0]*launch.Block[1] < 64 || tested == 2 || !hasBarrier(t, launch) {
					continue
				}
				tested++
				launch.Compile.Source = bytes.ReplaceAll(launch.Compile.Source, barrier, nil)
				res, err := clang.Compile(context.Background(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
				if err != nil {
					t.Fatal(err)
				}
				_, err = run(launch, res.PTX, contents(launch))
				var found *fault.Fault
				if !errors.As(err, &found) || found.Kind != fault.Race {
					t.Errorf("%s without barriers gives %v, want a race", cfg, err)
				}
			}
			if tested == 0 {
				t.Error("no configuration has a barrier")
			}
		})
	}
}

func hasBarrier(t *testing.T, launch *call.Launch) bool {
	t.Helper()
	res, err := compile.Prebuilt{}.Compile(context.Background(), compile.Request{Compile: launch.Compile})
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(res.PTX, []byte("bar.sync")) || bytes.Contains(res.PTX, []byte("barrier.sync"))
}
