package code

import (
	"github.com/warptune/warptune/simengine/ir"
)

// CompileCounting compiles for Full mode. Runs of the program count the slow paths that warps take
// (Runner.SlowPaths) and the values that lanes match (Runner.Matches). The program is nil for a
// kernel without any.
func CompileCounting(k *ir.Kernel) (*Program, error) {
	for i := range k.Instrs {
		if ir.HasSlowPath(&k.Instrs[i]) || countsValues(&k.Instrs[i]) {
			return compile(k, Full, true)
		}
	}
	return nil, nil
}

// emitCount compiles the count before an operation that has a slow path or matches values.
func (c *compiler) emitCount(pc int, in *ir.Instr, guard Instr) error {
	list, run := &c.p.SlowPaths, CallCountPaths
	if countsValues(in) {
		list, run = &c.p.Matched, CallCountValues
	}
	guard.Kind, guard.X = KindCall, &Extra{Call: run, Imm: uint64(len(*list))}
	if err := c.operands(pc, in, guard.X, in.Type); err != nil {
		return err
	}
	*list = append(*list, int32(pc))
	c.p.Code = append(c.p.Code, guard)
	return nil
}

// countsValues reports whether the values of an instruction's lanes are counted.
func countsValues(in *ir.Instr) bool { return in.Op == ir.Match && in.Mod&ir.ModAll == 0 }
