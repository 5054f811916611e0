package assemble

import "fmt"

// verifyRegisters checks that no two values live at one time share a register.
func (f *mfn) verifyRegisters(s *allocScratch) error {
	f.trackOrder()
	l := newAllocator(f, f.layout(nil), s)
	ranges := l.liveRanges(0)
	var banks [numFiles]bank
	for i := range banks {
		banks[i].reset(l.positions())
	}
	for v := range ranges {
		if len(ranges[v].all) == 0 || f.vals[v].file == fileNone {
			continue
		}
		if f.regs[v] < 0 {
			return fmt.Errorf("value %d is live and has no register", v)
		}
		k := &banks[f.vals[v].file]
		for w := 0; w < int(f.vals[v].words); w++ {
			r := int(f.regs[v]) + w
			if !k.free(r, ranges[v].word[w]) {
				return fmt.Errorf("value %d shares register %d with another live value", v, r)
			}
			k.take(r, ranges[v].word[w])
		}
	}
	return nil
}
