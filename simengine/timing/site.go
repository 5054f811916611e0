package timing

// Site is what one PTX instruction does and costs in a launch. Counts are of the whole grid and estimated as the counters
// are.
type Site struct {
	PC int32 // index in ir.Kernel.Instrs
	// Executions is how often warps come to it. Instructions is the machine instructions of warps issued for it, with
	// those that spill and reload registers beside it. Threads is the active lanes of these, and ThreadsOn those of
	// them whose guard is on.
	Executions, Instructions, Threads, ThreadsOn float64
	// Stalls is the cycles that warps waited before its machine instructions, by reason.
	Stalls [NumStallReasons]float64
	// Requests is its memory requests, Sectors the 32-byte sectors that they touch in L1, and IdealSectors as many as
	// their bytes fill. Passes is the turns of the data stage or of the banks of shared memory that they take, and
	// IdealPasses those without conflicts. Of a load from constant memory Passes is its distinct words.
	Requests, Sectors, IdealSectors, Passes, IdealPasses float64
	// L1Hits is the sectors that L1 held, L2Sectors those asked of L2 or stored there, DRAMSectors those that came
	// from DRAM.
	L1Hits, L2Sectors, DRAMSectors float64
	// SpillStores and SpillLoads are machine instructions that spill registers and reload them.
	SpillStores, SpillLoads float64
	// Same is the most lanes of a request of an atomic that address one word, in the mean.
	Same float64
	// Machine is its machine instructions.
	Machine []Op
}

// Op is a machine instruction of a Site.
type Op struct {
	Class  string // its kind
	Spill  bool
	Issued float64 // of warps
	Stalls float64 // cycles that warps waited before it, whatever for
}

// Stalled is the cycles that warps waited.
func (s *Site) Stalled() (cycles float64) {
	for _, v := range s.Stalls {
		cycles += v
	}
	return cycles
}
