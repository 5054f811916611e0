package footprint

import "testing"

// Of tiles that eight CTAs copy again at a time, one brings what L2 has lost for all; loads bring it for each. What fits
// into L2 is lost to nobody.
func TestLostOnceForAll(t *testing.T) {
	d := Device{L2Bytes: 50 << 20, Kept: 0.6, KeptUntil: 1.2, Resident: 128, CTAsPerSM: 1, L1Lines: 512}
	const ctas = 128
	g := &group{shares: shares{share: 1.0 / 8}} // 16 tiles among 128 CTAs
	plan := func(footprint float64) *Plan {
		p := &Plan{}
		p.Footprint = footprint
		return p
	}
	var again spans
	for c := range again {
		if lines(c) >= 1<<20 {
			again[c] = 100
			break
		}
	}
	each := plan(1<<40).lost(&again, g, &d, false, 1, ctas)
	all := plan(1<<40).lost(&again, g, &d, true, 1, ctas)
	if each != 1 || all != each/8 {
		t.Errorf("%g of loads and %g of copies are lost, want 1 and an eighth", each, all)
	}
	if kept := plan(1<<20).lost(&again, g, &d, true, 1, ctas); kept != 0 {
		t.Errorf("%g of what fits into L2 is lost", kept)
	}
}
