package ir

// Path is a piece of the code that a warp executes where some lane's operands are
// none that the code in line of a division, reciprocal or root serves.
type Path uint8

// Paths. A warp that calls the routine executes PathEntered and, one after another,
// all others that some of its lanes take.
const (
	PathEntered   Path = iota // what all do that call it
	PathUndefined             // a result that is not a number
	PathLimit                 // a result that is zero or infinite because an operand is
	PathScaled                // an ordinary result, of operands that have to be scaled
	PathTiny                  // a denormal result, or one that overflows
	NumPaths
)

// HasSlowPath reports an operation whose machine code calls a routine for operands
// out of the ordinary: division, reciprocal and square root that round exactly.
func HasSlowPath(in *Instr) bool {
	if in.Type != F32 && in.Type != F64 || in.Mod&(ModApprox|ModFull) != 0 {
		return false
	}
	return in.Op == Div || in.Op == Rcp || in.Op == Sqrt
}
