package message

import (
	"fmt"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

// LastLevel is the level whose outcomes count.
func LastLevel(spec *warptunev1.Spec) string {
	s := tuner.Spec{Level: spec.GetLevel()}
	return s.LastLevel()
}

// ProofText says how far the best of a sweep is known to be from the fastest
// configuration.
func ProofText(s *warptunev1.Sweep) string {
	p, space := s.GetProof(), s.GetCounts().GetSpace()
	of := fmt.Sprintf("of the simulator's predictions of %d", space)
	if p.GetOf() < space {
		of = fmt.Sprintf("of the simulator's predictions of the %d looked at (%d were not)", p.GetOf(), space-p.GetOf())
	}
	switch {
	case p == nil || p.Gap == nil && p.GetOf() < space:
		return fmt.Sprintf("not proven: %d of %d configurations were not looked at", space-p.GetOf(), space)
	case p.Gap == nil:
		return fmt.Sprintf("not proven: nothing is known of %d of %d configurations", p.GetOpen(), space)
	case p.GetOpen() == 0 && p.GetPruned() == 0:
		return "proven best " + of + ": all were evaluated"
	case p.GetOpen() == 0:
		return fmt.Sprintf("proven best %s: %d evaluated, the other %d cannot be faster", of, p.GetEvaluated(), p.GetPruned())
	}
	return fmt.Sprintf("proven to be within %s of the best %s: %d evaluated, %d cannot be faster, %d might be by that much",
		PercentText(p.GetGap()), of, p.GetEvaluated(), p.GetPruned(), p.GetOpen())
}

// PercentText is a share in per cent, with two digits that say something.
func PercentText(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.2g %%", 100*share)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// LevelsText says at which level a sweep evaluates, and which one ranks.
func LevelsText(spec *warptunev1.Spec) string {
	last := LastLevel(spec)
	if last == spec.GetLevel() {
		return last
	}
	return last + ", ranked at " + spec.GetLevel()[:len(spec.GetLevel())-len(last)-1]
}
