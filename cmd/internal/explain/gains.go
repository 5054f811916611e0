package explain

import (
	"fmt"
	"slices"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/ideal"
)

// How many times faster two changes must be than each by itself to be named together: two that change what the kernel
// does, and one that hides the other.
const (
	worthBoth   = 1.05
	worthHiding = 1.1
)

// gains says what a what-if gains, what binds then, and what gains more together with it.
func (f *Finding) gains(s *Subject, w *evaluate.WhatIf) {
	f.TimeUS, f.Gain = w.TimeUS, w.Gain
	f.StillBound = w.Bound == s.Report.Bound && w.Gain >= muchFaster
	if w.Bound != "" && (w.Bound != s.Report.Bound || f.StillBound) {
		f.Then = BoundWords(w.Bound)
	}
	f.Relieves = relieved(s, w)
	pair, other, ok := evaluate.Paired(s.WhatIfs, w.Without)
	part := partOf[w.Without]
	if part != 0 {
		pair, other, ok = whatIf(s, part)
	}
	worth := worthHiding
	if evaluate.Structural.Has(w.Without | other) {
		worth = worthBoth
	}
	alone := max(w.Gain, gainOf(s, other))
	if part != 0 {
		alone = w.Gain
	}
	if ok && pair.Gain >= worth*alone {
		f.With = &Both{other.String(), pair.TimeUS, pair.Gain}
	}
}

// overlap has the second finding say what it gains together with the first.
func overlap(s *Subject, all []Finding) {
	if len(all) < 2 || all[1].With != nil {
		return
	}
	first, err := ideal.Parse(all[0].Topic)
	second, wrong := ideal.Parse(all[1].Topic)
	if err != nil || wrong != nil {
		return
	}
	if w, _, ok := whatIf(s, first|second); ok {
		const hardly = 1.2 // times the time that is saved
		gain, before := max(w.Gain, all[0].Gain), s.Report.TimeUS
		all[1].WithFirst = &Both{all[0].Topic, before / gain, gain}
		all[1].Overlaps = before-before/gain <= hardly*(before-all[0].TimeUS)
	}
}

// partOf is, by mechanism, one that has all of it and more, and is simulated by itself.
var partOf = map[ideal.Set]ideal.Set{ideal.Atomics: ideal.L2Atomics, ideal.L2Atomics: ideal.CTAWork}

// muchFaster is the gain from which on it is said what changes, and what does not.
const muchFaster = 1.2

// relieved says that the reason for which most issue slots are lost is hardly one without a mechanism: how what is seen
// in the issue slots comes of it.
func relieved(s *Subject, w *evaluate.WhatIf) string {
	const much, less = 0.2, 3 // of the slots; times fewer
	if w.Gain < muchFaster || len(w.Slots) == 0 {
		return ""
	}
	lost := slices.DeleteFunc(slices.Clone(s.Report.Slots), func(o simengine.Share) bool { return o.Name == "issued" })
	if len(lost) == 0 || lost[0].Value < much { // the most first
		return ""
	}
	then := 0.0
	for _, o := range w.Slots {
		if o.Name == lost[0].Name {
			then = o.Value
		}
	}
	if less*then > lost[0].Value {
		return ""
	}
	name := lost[0].Name
	if name == "idle" {
		name = "warps that are not there"
	}
	return fmt.Sprintf("issue slots lost to %s fall from %s to %s", name, percent(lost[0].Value), percent(then))
}

// whatIf is the what-if of mechanisms; false: they were not simulated.
func whatIf(s *Subject, m ideal.Set) (w evaluate.WhatIf, of ideal.Set, ok bool) {
	i := slices.IndexFunc(s.WhatIfs, func(w evaluate.WhatIf) bool { return w.Without == m })
	if i < 0 {
		return w, m, false
	}
	return s.WhatIfs[i], m, true
}
