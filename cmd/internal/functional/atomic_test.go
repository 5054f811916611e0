package functional_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// plainAdd is atomicAdd that is not atomic.
const plainAdd = `template <class T> __device__ T plainAdd(T* p, T v) { T old = *p; *p = old + v; return old; }
`

// A built-in kernel that adds without atomics is reported as a race, in shared memory or in
// device memory.
func TestMissingAtomicIsFound(t *testing.T) {
	clang := needClang(t)
	spaces := map[string]int{}
	for _, name := range []string{"histogram", "reduce_atomic"} {
		k, err := catalogue.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		def, err := k.Definition()
		if err != nil {
			t.Fatal(err)
		}
		for _, cfg := range choose(t, def, name, 4, true) {
			launch, err := def.Launch(cfg, problem(t, name, cfg))
			if err != nil {
				t.Fatal(err)
			}
			if launch.Grid[0] == 1 {
				continue // one thread may be the only one that adds
			}
			launch.Compile.Source = append([]byte(plainAdd), bytes.ReplaceAll(launch.Compile.Source, []byte("atomicAdd("), []byte("plainAdd("))...)
			res, err := clang.Compile(context.Background(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
			if err != nil {
				t.Fatal(err)
			}
			_, err = run(launch, res.PTX, contents(launch))
			var found *fault.Fault
			if params(cfg)["VARIANT"] == 3 && err == nil {
				continue // its sums do not use the function
			}
			if !errors.As(err, &found) || found.Kind != fault.Race {
				t.Errorf("%s of %s without atomics gives %v, want a race", cfg, name, err)
				continue
			}
			spaces[found.Space.String()]++
		}
	}
	if spaces["shared"] == 0 || spaces["global"] == 0 {
		t.Errorf("races were found in %v, want some in shared and some in global memory", spaces)
	}
}

// The histogram that does not clear its counters in shared memory is reported as an uninitialised read.
func TestMissingClearIsFound(t *testing.T) {
	clang := needClang(t)
	k, err := catalogue.Open("histogram")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, cfg := range choose(t, def, "histogram", 4, false) {
		launch, err := def.Launch(cfg, problem(t, "histogram", cfg))
		if err != nil {
			t.Fatal(err)
		}
		if params(cfg)["COPIES"] == 0 {
			continue
		}
		tested++
		launch.Compile.Source = bytes.ReplaceAll(launch.Compile.Source, []byte("s[b] = 0"), []byte("(void)0"))
		res, err := clang.Compile(context.Background(), compile.Request{Compile: launch.Compile, Target: "sm_90"})
		if err != nil {
			t.Fatal(err)
		}
		_, err = run(launch, res.PTX, contents(launch))
		var found *fault.Fault
		if !errors.As(err, &found) || found.Kind != fault.Uninitialised {
			t.Errorf("%s without zeros gives %v, want an uninitialised read", cfg, err)
		}
	}
	if tested == 0 {
		t.Error("no configuration counts in shared memory")
	}
}
