package footprint

import (
	"github.com/warptune/warptune/simengine/ir"
)

// Touch shows a survey what an instruction does to sectors of a line, and returns
// those whose granule its CTA touches so for the first time.
func Touch(s *Survey, op ir.Op, pc int32, line uint64, sectors uint8) (first uint8) {
	switch op {
	case ir.St:
		s.Locate(pc, line, sectors)
		return s.Touch(pc, line, sectors, true)
	case ir.Atom, ir.Red:
		return s.Update(pc, line, sectors)
	}
	return s.Touch(pc, line, sectors, false)
}
