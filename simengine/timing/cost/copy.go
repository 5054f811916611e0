package cost

import (
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// What a copy to shared memory by cp.async costs an SM, by lines that it reads
// (deploy/calibrate asyncs.copies and asyncs.beside, an H100 and an H200):
//
//   - Through L1 (cp.async.ca): copyThrough + copyLine cycles for each line, of the load/store unit. Measured
//     3.5, 4.4, 6.2, 10.9, 20 and 37 cycles for 1, 2, 4, 8, 16 and 32 lines.
//   - Bypassing L1 (cp.async.cg): lines come in one after the other, copyLine cycles each; a sector whose halves
//     go to different sectors of shared memory is fetched twice. Measured 8.2, 17.4 and 33.8 cycles for 8, 16 and 32
//     lines.
//   - The data banks are held copyFill cycles for each sector that comes in: of four lines a copy, 2.0 cycles are
//     not left to loads from shared memory.
const (
	copyThrough = 2.4
	copyLine    = 1.06
	copyFill    = 0.125
)

// CopyLineSteps is copyLine in steps of a server.
var CopyLineSteps = dram.Ticks(copyLine)

// copyCost is how long a copy holds the load/store unit, steps.
func (m *Machine) copyCost(lines int64, bypass bool) int64 {
	if bypass {
		return m.Addressing
	}
	return dram.Ticks(copyThrough + copyLine*float64(lines))
}

// CopyTurns is how long a line of a copy that bypasses L1 takes at least to come into the SM,
// steps.
func CopyTurns(l *trace.Line) int64 {
	return CopyLineSteps * int64(max(l.Again(), 1))
}

// FillSteps is how long a sector that arrives from L2 holds the data banks, steps.
func (m *Machine) FillSteps(copied, bypass bool) int64 {
	switch {
	case copied && bypass:
		return dram.Ticks(copyFill)
	case copied:
		return 0
	}
	return m.fillSector
}
