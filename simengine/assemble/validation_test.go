package assemble

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/target"
)

// Every eighth PTX of the validation sets is assembled with every pass verified: for
// Hopper, and with a cap for one of the other generations in turn.
func TestValidationKernelsVerify(t *testing.T) {
	verifying = true
	defer func() { verifying = false }()
	others := [][2]int{{3, 5}, {5, 2}, {7, 0}, {7, 5}, {8, 0}, {8, 6}, {12, 0}}
	for _, file := range measuredArchives(t) {
		c := openCorpus(t, file)
		names := slices.Sorted(maps.Keys(c.Files))
		for k := 0; k < len(names); k += 8 {
			for _, opt := range []Options{hopper, {CC: others[k/8%len(others)], MaxRegisters: 40}} {
				var older *target.TensorError // of a kernel for later ones
				if _, err := Assemble(c.Kernel(t, names[k]), opt); err != nil && (!errors.As(err, &older) || opt.CC == hopper.CC) {
					t.Errorf("%s for %v: %v", names[k], opt.CC, err)
				}
			}
		}
	}
}
