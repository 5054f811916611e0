package mir

import "github.com/warptune/warptune/simengine/assemble/vreg"

// Accumulators of warpgroups' products.

// Group makes values adjacent registers, in order.
func (f *Func) Group(vals []vreg.Value) {
	f.Groups = append(f.Groups, vals)
	for _, v := range vals {
		for int(v) >= len(f.grouped) {
			f.grouped = append(f.grouped, false)
		}
		f.grouped[v] = true
	}
}

// IsGrouped reports whether a value is one of accumulators.
func (f *Func) IsGrouped(v vreg.Value) bool { return int(v) < len(f.grouped) && f.grouped[v] }

// Accumulates reports whether instruction i of the packed ones reads or writes accumulators.
func (f *Func) Accumulates(o *Operands, i int32) bool {
	if len(f.Groups) == 0 {
		return false
	}
	for _, r := range o.Reads(i) {
		if f.IsGrouped(r.Value) {
			return true
		}
	}
	for _, w := range o.Writes(i) {
		if f.IsGrouped(w.Value) {
			return true
		}
	}
	return false
}
