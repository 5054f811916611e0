package assemble

// balance gives the multiplier's pipe part of what the integer pipe would have more of than it in
// the whole program, each instruction counted once wherever it stands: sums of two registers, of one that is
// shifted to the left, moves and such shifts can be made there (IMAD.IADD, IMAD, IMAD.MOV, IMAD.SHL), at the same latency, on Hopper sums with an
// immediate, too (VIADD). ptxas makes as many there as leave both pipes with as much, evenly
// among all: of 115,000 such instructions in 2,210 programs for sm_90 3.1 % are otherwise, for sm_86, sm_80 and
// sm_75 (1,400 programs each, the same PTX) 1.7, 1.7 and 1.6 % (ptxas 13.0.88). Each
// multiply-add is one of the multiplier's, though every other one of Hopper's runs beside it; sums of halves are
// on Hopper only.
func (f *mfn) balance() error {
	if !f.t.imadWide {
		return nil
	}
	integer, multiplier, either := f.pipeTotals()
	moved := min(max((integer-multiplier)/2, 0), either)
	due := either / 2
	for _, b := range f.order {
		insts := f.blocks[b].insts
		for i := range insts {
			op := insts[i].multiplied(f.t)
			if op == opInvalid {
				continue
			}
			if due += moved; due >= either {
				insts[i].op, due = op, due-either
			}
		}
	}
	return nil
}

// pipeTotals counts the instructions of the integer pipe, those of the multiplier's, and those of the first
// that may run on either.
func (f *mfn) pipeTotals() (integer, multiplier, either int) {
	for _, b := range f.order {
		insts := f.blocks[b].insts
		for i := range insts {
			switch insts[i].op.class() {
			case ALU:
				integer++
				if insts[i].multiplied(f.t) != opInvalid {
					either++
				}
			case FMAHeavy, IMADWide, IMADHigh, FMA:
				multiplier++
			case Half:
				if f.t.addMinMax {
					multiplier++
				}
			}
		}
	}
	return integer, multiplier, either
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
	case in.op == opLEA && in.nsrc == 2 && registers && in.dst[1].kind == argNone:
		return opIMAD
	case in.op == opIADD3 && in.nsrc == 2 && registers && in.dst[1].kind == argNone:
		return opIMADIADD
	case in.op == opIADD3 && in.nsrc == 2 && immediate && t.addMinMax && in.dst[1].kind == argNone:
		return opVIADD
	}
	return opInvalid
}
