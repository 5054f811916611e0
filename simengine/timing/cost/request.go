package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
)

// RequestCost is how long a request with lines holds the load/store unit; past says that it
// passes L1 by.
func (m *Machine) RequestCost(class assemble.Class, past bool, lines, passes int64) int64 {
	if class == assemble.AsyncCopy {
		return m.copyCost(lines, past)
	}
	cost := max(m.tagFirst+(lines-1)*m.TagNext, passes*m.dataPass, m.Addressing)
	if class == assemble.Store {
		cost = max(cost, lines*m.storeLine)
	}
	return cost
}
