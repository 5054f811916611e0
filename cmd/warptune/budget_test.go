package main

import (
	"testing"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

func TestParseBudget(t *testing.T) {
	for _, c := range []struct {
		text        string
		evaluations int64
		time        time.Duration
		within      float64 // -1: no proof
	}{
		{"", 0, 0, -1},
		{"200", 200, 0, -1},
		{"10m", 0, 10 * time.Minute, -1},
		{"within=2%", 0, 0, 0.02},
		{"within=0.5", 0, 0, 0.5},
		{"within=0%", 0, 0, 0},
		{" 1h30m , 5, within=1.5 %", 5, 90 * time.Minute, 0.015},
	} {
		b, err := parseBudget(c.text)
		within := -1.0
		if b.within != nil {
			within = *b.within
		}
		if err != nil || b.evaluations != c.evaluations || b.time != c.time || within != c.within {
			t.Errorf("%q: %+v within %g (%v)", c.text, b, within, err)
		}
	}
	for _, bad := range []string{"x", "-1", "-5m", "1.5", "200,300", "within", "within=", "within=NaN", "within=1e9", "within=2", "within=1", "within=100000%", "99999999999999999999", "200,", "∞"} {
		if b, err := parseBudget(bad); err == nil {
			t.Errorf("%q is taken for %+v", bad, b)
		}
	}
}

func TestProofText(t *testing.T) {
	gap := func(g float64) *float64 { return &g }
	for want, s := range map[string]*warptunev1.Sweep{
		"proven best of the simulator's predictions of 34: all were evaluated": {
			Counts: &warptunev1.Counts{Space: 34}, Proof: &warptunev1.Proof{Of: 34, Evaluated: 34, Gap: gap(0)}},
		"proven best of the simulator's predictions of 714: 28 evaluated, the other 686 cannot be faster": {
			Counts: &warptunev1.Counts{Space: 714}, Proof: &warptunev1.Proof{Of: 714, Evaluated: 28, Pruned: 686, Gap: gap(0)}},
		"proven best of the simulator's predictions of the 100 looked at (614 were not): 28 evaluated, the other 72 cannot be faster": {
			Counts: &warptunev1.Counts{Space: 714}, Proof: &warptunev1.Proof{Of: 100, Evaluated: 28, Pruned: 72, Gap: gap(0)}},
		"proven to be within 4.5 % of the best of the simulator's predictions of 714: 22 evaluated, 686 cannot be faster, 6 might be by that much": {
			Counts: &warptunev1.Counts{Space: 714}, Proof: &warptunev1.Proof{Of: 714, Evaluated: 22, Pruned: 686, Open: 6, Gap: gap(0.045)}},
		"not proven: 614 of 714 configurations were not looked at": {
			Counts: &warptunev1.Counts{Space: 714}, Proof: &warptunev1.Proof{Of: 100, Evaluated: 100}},
		"not proven: nothing is known of 3 of 714 configurations": {
			Counts: &warptunev1.Counts{Space: 714}, Proof: &warptunev1.Proof{Of: 714, Evaluated: 711, Open: 3}},
	} {
		if got := proofText(s); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
