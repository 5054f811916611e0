package assemble

// balance gives the multiplier's pipe part of what the integer pipe would have more
// of than it: sums of two registers, moves and shifts to the left can be made there
// (IMAD.IADD, IMAD.MOV, IMAD.SHL), at the same latency. ptxas' code for sm_90 has
// about half of them there in blocks that load the integer pipe more (of 1,765 sums
// of two registers in such blocks of the measured kernels 768, of 1,315 moves 655, of
// 159 shifts 109), and few in the others (8 of 89 sums among multiply-adds). Hopper has
// sums with an immediate there, too (VIADD: 284 of 520 in the machine code of
// validation/fifth; both pipes together take 3.8 of 4 instructions a cycle, deploy/calibrate
// pipe.rate mix_viadd_lop3_imad).
func (f *fn) balance() error {
	if !f.t.imadWide {
		return nil
	}
	for _, b := range f.order {
		balanceBlock(f.mblocks[b].insts, f.t)
	}
	return nil
}

// balanceBlock moves every second instruction that may run on either pipe, until
// both have as much.
func balanceBlock(insts []inst, t *target) {
	alu, fma := 0, 0 // half instructions: of two multiply-adds one takes the multiplier's pipe
	for i := range insts {
		switch mops[insts[i].op].class {
		case ALU:
			alu += 2
		case FMAHeavy, IMADWide, IMADHigh:
			fma += 2
		case FMA:
			fma++
		}
	}
	second := false
	for i := range insts {
		if alu-fma < 4 {
			return
		}
		op := insts[i].multiplied(t)
		if op == opInvalid {
			continue
		}
		if second = !second; second {
			insts[i].op = op
			alu, fma = alu-2, fma+2
		}
	}
}

// multiplied is the operation of the multiplier's pipe that does the same,
// opInvalid when there is none.
func (in *inst) multiplied(t *target) mop {
	registers, immediate := true, false
	for i := range in.src[:in.nsrc] {
		registers = registers && in.src[i].kind == argValue
		immediate = immediate || in.src[i].kind == argImm
	}
	switch {
	case in.op == opMOV && in.nsrc == 1:
		return opIMADMOV
	case in.op == opSHL:
		return opIMADSHL
	case in.op == opIADD3 && in.nsrc == 2 && registers && in.dst[1].kind == argNone:
		return opIMADIADD
	case in.op == opIADD3 && in.nsrc == 2 && immediate && t.addMinMax && in.dst[1].kind == argNone:
		return opVIADD
	}
	return opInvalid
}
