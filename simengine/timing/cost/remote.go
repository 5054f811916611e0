package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/trace"
)

// Requests to the shared memory of other CTAs of a cluster hold the SM's way there for each sector, loads also for
// each line. In clusters of four an H100 takes 9.7 and 116 cycles for a load of 32 words of the next CTA, in a row
// and at random among 2,048. It takes 9.6 and 75 for a store, 24 and 139 for an atomic, and 206 for atomics on one
// word (deploy/calibrate remote.words, 32 warps). Of CTAs drawn among all, atomics at random take 97 cycles, of
// which a quarter stay on the SM. In clusters of eight it takes as long, in clusters of two 0.7 to 0.8 times as
// long.
const (
	remoteLine   = 2.4 // cycles
	remoteAtomic = 4.0 // cycles a sector
	remotePair   = 0.8
)

// RemoteShared is how long a request holds the way to the other CTAs of its cluster, steps.
func (m *Machine) RemoteShared(c assemble.Class, a *trace.Access, cluster int) int64 {
	sectors := float64(a.Sectors)
	cycles := 0.0
	switch c {
	case assemble.Store:
		cycles = sectors * m.remoteStore
	case assemble.Atomic:
		cycles = sectors * remoteAtomic
	default:
		cycles = sectors*m.remoteLoad + float64(a.Visits)*remoteLine
	}
	if cluster == 2 {
		cycles *= remotePair
	}
	return dram.Ticks(cycles)
}

// RemoteShared is Machine.RemoteShared in cycles.
func (f *Figures) RemoteShared(c assemble.Class, a *trace.Access, cluster int) float64 {
	return cycles(f.m.RemoteShared(c, a, cluster))
}
