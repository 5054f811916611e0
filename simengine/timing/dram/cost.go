package dram

// ReadCycles is how long a read of sectors of one line holds the slices, and
// the port into the SM.
func (s *Share) ReadCycles(sectors int64) (slices, port float64) {
	return float64(s.read.of(sectors)) / Fraction, float64(sectors*s.portCost) / Fraction
}

// WriteCycles is how long a store of sectors of one line holds the slices, and the way to them.
func (s *Share) WriteCycles(sectors int64, part Part) (slices, way float64) {
	return float64(s.writeSlice[part].of(sectors)) / Fraction, float64(s.writeOut[part].of(sectors)) / Fraction
}

// LookupCycles is how long lookups hold the slices for a read of sectors of one line of which granules miss, for each
// of which so many requests ask.
func (s *Share) LookupCycles(sectors int64, granules, askers float64) float64 {
	one := s.looked(sectors, 1, Ticks(askers)) - s.read.least
	return (float64(s.read.least) + float64(one)*granules) / Fraction
}

// DRAMCycles is how long a granule holds DRAM.
func (s *Share) DRAMCycles() float64 { return float64(s.dramOne) / Fraction }

// ContendedCycles is how long a granule holds the slices that is of a line of which others
// store other parts meanwhile, beyond its read.
func (s *Share) ContendedCycles() float64 { return float64(s.contended) / Fraction }
