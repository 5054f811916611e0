package ir

// Path is a piece of the code that a warp executes where the operands of some lane are not served by
// the inline code of a division, reciprocal or square root.
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

// HasSlowPath reports whether the machine code of an operation calls a routine for unusual operands.
// Divisions, reciprocals and square roots that round correctly do.
func HasSlowPath(in *Instr) bool {
	if in.Type != F32 && in.Type != F64 || in.Mod&(ModApprox|ModFull) != 0 {
		return false
	}
	return in.Op == Div || in.Op == Rcp || in.Op == Sqrt
}
