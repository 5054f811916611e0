package footprint

import "github.com/warptune/warptune/simengine/ir"

// Streaming reports, by instruction of a kernel, whether it marks lines to be evicted first
// (.cs); nil where none does.
func Streaming(k *ir.Kernel) (by []bool) {
	for pc := range k.Instrs {
		if k.Instrs[pc].Cache != ir.CacheCS {
			continue
		}
		if by == nil {
			by = make([]bool, len(k.Instrs))
		}
		by[pc] = true
	}
	return by
}
