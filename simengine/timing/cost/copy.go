package cost

import (
	"math/bits"

	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// What a copy to shared memory by cp.async costs (deploy/calibrate asyncs.copies and asyncs.beside, an H100 and
// an H200): through L1 (ca) it takes copyLine cycles of the load/store unit for each line and copyThrough
// besides, with the turns of the data banks for what comes in: 3.5, 4.4, 6.2, 10.9, 20 and 37 cycles for 1, 2,
// 4, 8, 16 and 32 lines. Past L1 (cg) its lines, and the sectors that it fetches twice, come in one after the
// other, copyLine cycles each: 8.2, 17.4 and 33.8 cycles for 8, 16 and 32 lines. What comes in takes copyFill
// cycles of the data banks a sector: of four lines a copy 2.0 cycles are not left to loads from shared memory.
const (
	copyThrough = 2.4
	copyLine    = 1.06
	copyFill    = 0.125
)

// copyCost is how long a copy holds the load/store unit, steps.
func (m *Machine) copyCost(lines int64, past bool) int64 {
	if past {
		return m.Addressing
	}
	return dram.Ticks(copyThrough + copyLine*float64(lines))
}

// CopyTurns is how long a line of a copy past L1 takes at least to come into the SM, steps.
func CopyTurns(l *trace.Line) int64 {
	return dram.Ticks(copyLine) * int64(max(bits.OnesCount8(l.Twice), 1))
}

// fill is how long a sector that comes in takes of the data banks, steps.
func (m *Machine) FillSteps(copied, past bool) int64 {
	switch {
	case copied && past:
		return dram.Ticks(copyFill)
	case copied:
		return 0
	}
	return m.fillSector
}
