package sroa

import (
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// LocalArray is an array, or another variable of one thread, in local memory.
type LocalArray struct {
	Name  string
	Bytes int
	// Indexed is where the first load with a run-time index stands, or else the first such store. It
	// is not valid where there is none: the variable's address is then used in another way, or parts
	// of words are accessed.
	Indexed ptx.Pos
}

// LocalArrays returns the variables that the kernel keeps in local memory.
func LocalArrays(k *ir.Kernel) (arrays []LocalArray) {
	var vars []int
	for v := range k.Vars {
		if x := &k.Vars[v]; x.Space == ir.Local && x.Size > 0 {
			vars = append(vars, v)
			arrays = append(arrays, LocalArray{Name: x.Name, Bytes: x.Size})
		}
	}
	if len(vars) == 0 {
		return nil
	}
	defs := onlyDefs(k)
	for _, op := range [...]ir.Op{ir.Ld, ir.St} {
		for pc := range k.Instrs {
			in := &k.Instrs[pc]
			if in.Op != op || in.Space != ir.Local {
				continue
			}
			variable, fixed := followAddress(k, &in.Src[0], defs)
			for i, v := range vars {
				if a := &arrays[i]; !fixed && !a.Indexed.IsValid() && (int(variable) == v || len(vars) == 1) {
					a.Indexed = in.Pos
				}
			}
		}
	}
	return arrays
}

// onlyDefs returns by register the one instruction that writes it, -1 where there are several or
// none.
func onlyDefs(k *ir.Kernel) []int {
	defs, count := make([]int, len(k.Regs)), make([]int, len(k.Regs))
	var buf [16]ir.Reg
	for pc := range k.Instrs {
		for _, r := range k.Instrs[pc].AppendDefs(buf[:0]) {
			defs[r] = pc
			count[r]++
		}
	}
	for r := range defs {
		if count[r] != 1 {
			defs[r] = -1
		}
	}
	return defs
}

// followAddress follows an address to its variable, -1 where it cannot. It reports whether the
// address is a constant distance from the variable's start.
func followAddress(k *ir.Kernel, o *ir.Operand, defs []int) (variable int32, fixed bool) {
	fixed = true
	for range len(k.Regs) {
		if (o.Kind == ir.OperandVar || o.Kind == ir.OperandAddr && o.Reg == ir.NoReg) && o.Var >= 0 {
			return o.Var, fixed
		}
		if o.Kind != ir.OperandReg && o.Kind != ir.OperandAddr || o.Reg == ir.NoReg || defs[o.Reg] < 0 {
			return -1, false
		}
		in := &k.Instrs[defs[o.Reg]]
		switch in.Op {
		case ir.Mov, ir.Cvt, ir.Cvta:
		case ir.Add, ir.Sub:
			fixed = fixed && in.Src[1].Kind == ir.OperandImm
		default:
			return -1, false
		}
		o = &in.Src[0]
	}
	return -1, false
}
