package regalloc

import (
	"fmt"

	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// VerifyRegisters checks that no two values that are live at the same time share a register.
func VerifyRegisters(f *mir.Func, s *Scratch) error {
	f.TrackOrder()
	l := New(f, f.Layout(nil), s)
	ranges := l.liveRanges(0)
	var banks [vreg.NumFiles]registerFile
	for i := range banks {
		banks[i].reset(l.Positions())
	}
	for v := range ranges {
		if len(ranges[v].all) == 0 || f.Values[v].File == vreg.NoFile {
			continue
		}
		if f.Regs[v] < 0 {
			return fmt.Errorf("value %d is live and has no register", v)
		}
		k := &banks[f.Values[v].File]
		for w := 0; w < int(f.Values[v].Words); w++ {
			r := int(f.Regs[v]) + w
			if !k.free(r, ranges[v].word[w]) {
				return fmt.Errorf("value %d shares register %d with another live value", v, r)
			}
			k.take(r, ranges[v].word[w])
		}
	}
	return nil
}
