package plan

import (
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/search/stopping"
)

// TestChoose: without --strategy what can be evaluated whole is, and a search
// that nothing ends does not go on for ever.
func TestChoose(t *testing.T) {
	none := 0.0
	for _, c := range []struct {
		name     string
		flags    Flags
		budget   budget
		size     int64
		strategy string
		patience int64
	}{
		{"small", Flags{}, budget{}, 1000, "exhaustive", 0},
		{"large", Flags{}, budget{}, 1e9, "portfolio", DefaultPatience},
		{"large, with a budget", Flags{}, budget{evaluations: 200}, 1e9, "portfolio", 0},
		{"large, with patience", Flags{rule: stopping.Rule{Patience: 7}}, budget{}, 1e9, "portfolio", 0},
		{"large, until little is left", Flags{rule: stopping.Rule{Negligible: 0.01}}, budget{}, 1e9, "portfolio", DefaultPatience},
		{"small, with patience", Flags{rule: stopping.Rule{Patience: 7}}, budget{}, 100, "portfolio", 0},
		{"small, until little is left", Flags{rule: stopping.Rule{Negligible: 0.01}}, budget{}, 100, "portfolio", 0},
		{"large, with time", Flags{}, budget{time: time.Minute}, 1e9, "portfolio", 0},
		{"small, with time", Flags{}, budget{time: time.Minute}, 100, "portfolio", 0},
		{"small, with a budget", Flags{}, budget{evaluations: 50}, 100, "portfolio", 0},
		{"covered", Flags{}, budget{evaluations: 5000}, 5000, "exhaustive", 0},
		{"to be proven", Flags{level: BothLevels}, budget{within: &none}, 5e6, "exhaustive", 0},
		{"to be proven, with a budget", Flags{level: BothLevels}, budget{within: &none, evaluations: 10}, 800, "portfolio", 0},
		{"to be proven, with a budget for all", Flags{level: BothLevels}, budget{within: &none, evaluations: 50}, 800, "exhaustive", 0},
		{"to be proven, with time", Flags{level: BothLevels}, budget{within: &none, time: time.Minute}, 5e6, "portfolio", 0},
		{"ranked", Flags{level: BothLevels}, budget{}, 16000, "exhaustive", 0},
		{"ranked, with a budget", Flags{level: BothLevels}, budget{evaluations: 50}, 800, "exhaustive", 0},
		{"ranked, with time", Flags{level: BothLevels}, budget{time: time.Minute}, 800, "portfolio", 0},
		{"large, ranked", Flags{level: BothLevels}, budget{}, 1e6, "portfolio", DefaultPatience},
		{"named", Flags{strategy: "genetic"}, budget{}, 1e9, "genetic", 0},
	} {
		spec := &warptunev1.Spec{Strategy: c.flags.strategy}
		c.flags.choose(spec, c.size, c.budget)
		if spec.GetStrategy() != c.strategy || spec.GetPatience() != c.patience {
			t.Errorf("%s: %s with patience %d, want %s with %d", c.name, spec.GetStrategy(), spec.GetPatience(), c.strategy, c.patience)
		}
	}
}
