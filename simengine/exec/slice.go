package exec

import "github.com/warptune/warptune/simengine/ir"

// executes reports an instruction that runs whether or not its result is
// needed: memory, control flow and barriers.
func executes(op ir.Op) bool {
	switch op {
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red, ir.CpAsync,
		ir.Bra, ir.Brx, ir.Exit, ir.Trap, ir.Bar, ir.BarRed:
		return true
	}
	return false
}

// addressOperand reports whether source i of an instruction that executes
// must have its value even when the instruction's result is not needed.
func addressOperand(in *ir.Instr, i int) bool {
	switch in.Op {
	case ir.Ld, ir.Ldu, ir.St, ir.Atom, ir.Red:
		return i == 0
	case ir.BarRed:
		return i < len(in.Src)-1 // the last is the predicate that is combined
	}
	return true
}
