package evaluate_test

import (
	"context"
	"testing"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// Where spills cost time, larger caps are simulated in order, up to the first that spills nothing; without a cap, and
// where nothing spills, there is none to try.
func TestCapsAreTried(t *testing.T) {
	k, err := catalogue.Open("fat_threads")
	if err != nil {
		t.Fatal(err)
	}
	def, err := k.Definition()
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := compile.New(compile.Options{Compiler: "prebuilt"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cap  int64
		some bool
	}{{32, true}, {96, false}, {0, false}} {
		cfg := def.Default()
		for i, name := range cfg.Names {
			switch name {
			case "max_registers":
				cfg.Values[i] = search.OfInt(tt.cap)
			case "WORK":
				cfg.Values[i] = search.OfInt(64)
			}
		}
		s, err := evaluate.New(compiler).Study(context.Background(), evaluate.Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Cycle})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Caps) > 1; got != tt.some { // the first ones spill
			t.Fatalf("cap %d: %+v", tt.cap, s.Caps)
		}
		for i, c := range s.Caps {
			last := i == len(s.Caps)-1
			if c.Cap <= int(tt.cap) || i > 0 && c.Cap <= s.Caps[i-1].Cap || last != (c.SpillBytes == 0) {
				t.Errorf("cap %d: %+v", tt.cap, s.Caps)
			}
		}
		if n := len(s.Caps); n > 0 && s.Caps[n-1].TimeUS > s.Outcome.TimeUS/5 {
			t.Errorf("without spills it takes %.1f us, and %.1f with", s.Caps[n-1].TimeUS, s.Outcome.TimeUS)
		}
	}
}
