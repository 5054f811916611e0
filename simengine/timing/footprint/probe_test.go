package footprint

import "testing"

// How many CTAs of a GPC read the same, from which probes found what the first CTA read. Probes are of its neighbour on
// the GPC and of the second, fourth and eighth from it.
func TestMerged(t *testing.T) {
	const resident = 16
	for _, c := range []struct {
		name string
		same [probeFar - stepProbe]bool
		want float64
	}{
		{"nobody", [probeFar - stepProbe]bool{}, 1},
		{"all", [probeFar - stepProbe]bool{true, true, true, true}, resident},
		{"the neighbour", [probeFar - stepProbe]bool{true}, 2},
		{"rows of eight", [probeFar - stepProbe]bool{true, true, true}, 5},
		{"every other", [probeFar - stepProbe]bool{false, true, true, true}, resident / 2},
		{"the second only", [probeFar - stepProbe]bool{false, true}, 2},
		{"every eighth", [probeFar - stepProbe]bool{false, false, false, true}, resident / 8},
	} {
		var p probed
		for n, same := range c.same {
			p.read[stepProbe+n] = 10
			if same {
				p.found[stepProbe+n] = 9
			}
		}
		if got := p.merged(resident); got != c.want {
			t.Errorf("%s: %g CTAs, want %g", c.name, got, c.want)
		}
		if got := p.merged(1); got != 1 {
			t.Errorf("%s: %g CTAs of the one that a GPC holds", c.name, got)
		}
	}
}
