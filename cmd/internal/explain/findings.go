package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/simengine/ideal"
)

// findings are what there is to say of a configuration: what gains most first, what is outside the kernel last.
func findings(s *Subject) []Finding {
	var all []Finding
	for _, w := range s.WhatIfs {
		of, ok := topics[w.Without]
		if !ok {
			continue
		}
		f := of(s)
		f.Topic = w.Without.String()
		f.gains(s, &w)
		if f.rank(s) >= leastGain && !saidOtherwise(s, w.Without) {
			all = append(all, f)
		}
	}
	for _, of := range []func(*Subject) (Finding, bool){tail, computeBound, spillsAnyway, localArraysAnyway, gap} {
		if f, ok := of(s); ok && !slices.ContainsFunc(all, func(o Finding) bool { return o.Topic == f.Topic }) {
			all = append(all, f)
		}
	}
	if f, ok := unexplained(s, all); ok {
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		switch {
		case a.Outside && !b.Outside:
			return 1
		case b.Outside && !a.Outside:
			return -1
		}
		return cmp.Compare(b.rank(s), a.rank(s))
	})
	settle(all)
	overlap(s, all)
	for i := range all {
		if f := &all[i]; f.Line != "" && s.Source != nil {
			f.Text = s.Source(f.Line)
		}
	}
	return all
}

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

// partOf is mechanisms that are part of another, which is simulated by itself.
var partOf = map[ideal.Set]ideal.Set{ideal.Atomics: ideal.L2Atomics, ideal.L2Atomics: ideal.CTAWork}

// muchFaster is the gain from which on it is said what changes, and what does not.
const muchFaster = 1.2

// relieved says that the reason for which most issue slots are lost is hardly one without a mechanism: how what is seen
// in the issue slots comes of it.
func relieved(s *Subject, w *evaluate.WhatIf) string {
	const much = 0.2
	for _, slot := range s.Report.Slots {
		if slot.Name == "issued" {
			continue
		}
		if slot.Value < much || w.Gain < muchFaster || len(w.Slots) == 0 {
			return ""
		}
		for _, o := range w.Slots {
			if o.Name == slot.Name && o.Value < slot.Value/3 {
				return fmt.Sprintf("issue slots lost to %s fall from %s to %s", cmp.Or(map[string]string{"idle": "warps that are not there"}[slot.Name], slot.Name), percent(slot.Value), percent(o.Value))
			}
		}
		return ""
	}
	return ""
}

func whatIf(s *Subject, m ideal.Set) (w evaluate.WhatIf, of ideal.Set, ok bool) {
	i := slices.IndexFunc(s.WhatIfs, func(w evaluate.WhatIf) bool { return w.Without == m })
	if i < 0 {
		return w, m, false
	}
	return s.WhatIfs[i], m, true
}

// saidOtherwise reports whether what is to be said of a mechanism is said of another that has it in it.
func saidOtherwise(s *Subject, m ideal.Set) bool {
	if m == ideal.L2Atomics {
		return gainOf(s, ideal.Atomics) >= leastGain // summed by the CTA there is less of them
	}
	return fewerCTAs(s, m)
}

// settle writes the remedies. What is against the remedy of a finding that gains more is left out, and said to be.
func settle(all []Finding) {
	size, by := 0, 0 // of CTAs, as the first finding that has to do with it wants it
	for i := range all {
		f := &all[i]
		var parts, against []string
		for _, a := range f.advice {
			switch {
			case a.size == 0 || a.size == size:
				parts = append(parts, a.text)
			case size == 0:
				parts, size, by = append(parts, a.text), a.size, i+1
			default:
				against = append(against, a.text)
			}
		}
		if len(parts) > 0 {
			f.Remedy = sentence(strings.Join(parts, ", or "))
		}
		if len(against) > 0 {
			f.Remedy = strings.TrimPrefix(f.Remedy+fmt.Sprintf(". %s would be against finding %d, which gains more", sentence(strings.Join(against, " and ")), by), ". ")
		}
	}
}

// sentence is a text with a capital letter.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// unexplained is the unit that bounds a launch, where no finding says so: the bound and the findings agree.
func unexplained(s *Subject, all []Finding) (Finding, bool) {
	r := s.Report
	units := r.NearestUnits()
	if r.Bound != r.Nearest || len(units) == 0 || slices.ContainsFunc(all, func(f Finding) bool {
		m, err := ideal.Parse(f.Topic)
		return f.Topic == topicCompute || err == nil && evaluate.Covers[r.Bound].Has(m)
	}) {
		return Finding{}, false
	}
	f := Finding{Topic: r.Bound}
	m := evaluate.UnitMechanisms[r.Bound]
	if of, ok := topics[m]; ok {
		f = of(s)
		f.Topic = m.String()
	}
	w, _, ok := whatIf(s, m)
	if !ok {
		f.Evidence = fmt.Sprintf("%s works at %s of its peak", UnitWords(r.Bound), percent(units[0].Value))
		return f, f.Evidence != ""
	}
	f.gains(s, &w)
	f.Evidence += fmt.Sprintf("; %s works at %s of its peak", UnitWords(r.Bound), percent(units[0].Value))
	if f.Gain < leastGain && f.Then == "" {
		f.Evidence += ", and something else costs as much at the same time"
		if len(units) > 1 {
			f.Evidence += ": " + UnitWords(units[1].Name)
		}
	}
	return f, true
}
