package peephole

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// BalancePipes gives the multiplier's pipe part of what the integer pipe would have more of than it in
// the whole program, each instruction counted once wherever it stands: sums of two registers, of one that is
// shifted to the left, moves and such shifts can be made there (IMAD.IADD, IMAD, IMAD.MOV, IMAD.SHL), at the same latency, on Hopper sums with an
// immediate, too (VIADD). ptxas makes as many there as leave both pipes with as much, evenly
// among all: of 115,000 such instructions in 2,210 programs for sm_90 3.1 % are otherwise, for sm_86, sm_80 and
// sm_75 (1,400 programs each, the same PTX) 1.7, 1.7 and 1.6 % (ptxas 13.0.88). Each
// multiply-add is one of the multiplier's, though every other one of Hopper's runs beside it; sums of halves are
// on Hopper only.
func BalancePipes(f *mir.Func) error {
	if !f.Target.ImadWide {
		return nil
	}
	integer, multiplier, either := pipeTotals(f)
	moved := min(max((integer-multiplier)/2, 0), either)
	due := either / 2
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		for i := range insts {
			op := onMultiplier(&insts[i], f.Target)
			if op == mir.OpInvalid {
				continue
			}
			if due += moved; due >= either {
				insts[i].Op, due = op, due-either
			}
		}
	}
	return nil
}

// pipeTotals counts the instructions of the integer pipe, those of the multiplier's, and those of the first
// that may run on either.
func pipeTotals(f *mir.Func) (integer, multiplier, either int) {
	for _, b := range f.Order {
		insts := f.Blocks[b].Insts
		for i := range insts {
			switch insts[i].Op.Class() {
			case mir.ALU:
				integer++
				if onMultiplier(&insts[i], f.Target) != mir.OpInvalid {
					either++
				}
			case mir.FMAHeavy, mir.IMADWide, mir.IMADHigh, mir.FMA:
				multiplier++
			case mir.Half:
				if f.Target.AddMinMax {
					multiplier++
				}
			}
		}
	}
	return integer, multiplier, either
}

// onMultiplier is the operation of the multiplier's pipe that does the same,
// opInvalid when there is none.
func onMultiplier(in *mir.Inst, t *target.Target) mir.Op {
	registers, immediate := true, false
	for i := range in.Src[:in.NSrc] {
		registers = registers && in.Src[i].Kind == mir.ArgValue
		immediate = immediate || in.Src[i].Kind == mir.ArgImm
	}
	switch {
	case in.Op == mir.OpMOV && in.NSrc == 1:
		return mir.OpIMADMOV
	case in.Op == mir.OpSHL:
		return mir.OpIMADSHL
	case in.Op == mir.OpLEA && in.NSrc == 2 && registers && in.Dst[1].Kind == mir.ArgNone:
		return mir.OpIMAD
	case in.Op == mir.OpIADD3 && in.NSrc == 2 && registers && in.Dst[1].Kind == mir.ArgNone:
		return mir.OpIMADIADD
	case in.Op == mir.OpIADD3 && in.NSrc == 2 && immediate && t.AddMinMax && in.Dst[1].Kind == mir.ArgNone:
		return mir.OpVIADD
	}
	return mir.OpInvalid
}
