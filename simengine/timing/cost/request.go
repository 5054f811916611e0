package cost

import "github.com/warptune/warptune/simengine/assemble"

// RequestCost is how long a request of a class holds the load/store unit, steps: the slowest of
// tags (by lines), data stage (by passes) and addressing. bypass reports whether it bypasses
// L1.
func (m *Machine) RequestCost(class assemble.Class, bypass bool, lines, passes int64) int64 {
	if class == assemble.AsyncCopy {
		return m.copyCost(lines, bypass)
	}
	cost := max(m.tagFirst+(lines-1)*m.TagNext, passes*m.dataPass, m.Addressing)
	if class == assemble.Store {
		cost = max(cost, lines*m.storeLine)
	}
	return cost
}
