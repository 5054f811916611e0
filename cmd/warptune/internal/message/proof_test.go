package message

import (
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

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
		if got := ProofText(s); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
