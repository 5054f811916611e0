// Package peephole has passes that replace single machine instructions or pairs of them.
package peephole

import (
	"github.com/warptune/warptune/simengine/assemble/mir"
	"github.com/warptune/warptune/simengine/assemble/rules"
	"github.com/warptune/warptune/simengine/assemble/target"
)

// Balance between the integer pipe and the multiplier's pipe.
//
// Additions of two registers, shifted additions, moves and shifts by a constant also exist as IMAD.IADD, IMAD,
// IMAD.MOV and IMAD.SHL, at the same latency. On Hopper, additions of an immediate exist as VIADD. ptxas makes as
// many of them as give both pipes the same number of instructions. It counts the whole program, each instruction once
// wherever it stands, and spreads them evenly over the program.
//
// Evidence, ptxas corpus (13.0.88): of 115,000 such instructions in 2,210 programs for sm_90 3.1 %
// differ; in 1,400 programs each for sm_86, sm_80 and sm_75, 1.7, 1.7 and 1.6 %.

// BalancePipes moves instructions of the integer pipe to the multiplier's pipe until both have the
// same number, or none is left that can move.
func BalancePipes(f *mir.Func) error {
	if !f.Target.IMADWide || !f.Target.Uses(rules.PipeBalance) {
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

// pipeTotals counts the instructions of the integer pipe, those of the multiplier's pipe, and those
// of the integer pipe that could run on either. Half precision counts as the multiplier's on Hopper
// only.
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

// onMultiplier is the operation of the multiplier's pipe with the same result, OpInvalid where
// there is none.
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
