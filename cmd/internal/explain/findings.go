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
