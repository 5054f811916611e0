package dram

// ReadCycles is how long a read of sectors of one line holds the slices, and
// the port into the SM.
func (s *Share) ReadCycles(sectors int64) (slices, port float64) {
	return float64(s.readLine+sectors*s.readSector) / Fraction, float64(sectors*s.portCost) / Fraction
}

// WriteCycles is how long a store of granules of one line holds the slices, and
// the way to them.
func (s *Share) WriteCycles(granules int64) (slices, way float64) {
	return float64(granules*s.writeSlice) / Fraction, float64(granules*s.writeOut) / Fraction
}

// DRAMCycles is how long a granule holds DRAM.
func (s *Share) DRAMCycles() float64 { return float64(s.dramOne) / Fraction }
