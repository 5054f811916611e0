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
	if w.Bound != s.Report.Bound && w.Bound != "" {
		f.Then = BoundWords(w.Bound)
	}
	pair, other, ok := evaluate.Paired(s.WhatIfs, w.Without)
	if w.Without == ideal.Atomics { // L2Atomics has all of what it has
		pair, other, ok = whatIf(s, ideal.L2Atomics)
	}
	worth := worthHiding
	if evaluate.Structural.Has(w.Without | other) {
		worth = worthBoth
	}
	alone := max(w.Gain, gainOf(s, other))
	if w.Without == ideal.Atomics {
		alone = w.Gain
	}
	if ok && pair.Gain >= worth*alone {
		f.With = &Both{other.String(), pair.TimeUS, pair.Gain}
	}
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
	switch m {
	case ideal.L1:
		return readOnce(s.Report)
	case ideal.L2Atomics: // summed by the CTA there is less of them
		return gainOf(s, ideal.Atomics) >= leastGain
	case ideal.L1Bandwidth, ideal.L2Bandwidth:
		for _, all := range covers {
			for _, w := range s.WhatIfs {
				if all.Has(m) && all.Has(w.Without) && w.Without != m && w.Gain >= worthHiding && evaluate.Structural.Has(w.Without) {
					return true
				}
			}
		}
	}
	return false
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

// covers are the mechanisms that explain why a unit is near its peak.
var covers = map[string]ideal.Set{
	"lsu":     ideal.Banks | ideal.Coalescing | ideal.SharedAtomics | ideal.Spills | ideal.LocalArrays | ideal.L1Bandwidth | ideal.Divergence,
	"l2":      ideal.Coalescing | ideal.L1 | ideal.Spills | ideal.LocalArrays | ideal.L2Bandwidth,
	"atomics": ideal.Atomics | ideal.L2Atomics, "dram": ideal.DRAM | ideal.Coalescing, "constant": ideal.Constants, "launch": ideal.Launch,
}

// unexplained is the unit that bounds a launch, where no finding says so: the bound and the findings agree.
func unexplained(s *Subject, all []Finding) (Finding, bool) {
	r := s.Report
	units := r.NearestUnits()
	if r.Bound != r.Nearest || len(units) == 0 || slices.ContainsFunc(all, func(f Finding) bool {
		m, err := ideal.Parse(f.Topic)
		return f.Topic == topicCompute || err == nil && covers[r.Bound].Has(m)
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
