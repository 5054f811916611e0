package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Slots is how long an instruction holds the issue slot, steps. One of the fp64 pipe: a
// cycle for each pair of registers that it reads (deploy/calibrate pipe.rate mix_pair_2ffma,
// 2pairs and 3pairs). Few are kept from the instruction before, which another warp's most
// often is (of 273 in the machine code of datasets/h200-loops-and-doubles great_circle 6 say so). Of the
// memory pipe: longer by each register that it reads (slots.beside).
func (m *Machine) Slots(in *assemble.Instr) int64 {
	const cycle = dram.Fraction
	switch in.Class {
	case assemble.FP64:
		return max(int64(float64(OperandFetches(in, nil))*m.pairReads), cycle)
	case assemble.Tensor, assemble.TensorShort, assemble.TensorSingle, assemble.TensorSingleShort, assemble.TensorDouble:
		return max(int64(float64(registersIn(in.Src[:]))*m.tensorReads), cycle)
	case assemble.IMADWide, assemble.IMADHigh:
		return max(m.productSlots, cycle)
	case assemble.Load, assemble.Store, assemble.Atomic, assemble.AsyncCopy, assemble.Shuffle:
		return cycle + int64(float64(registersIn(in.Src[:]))*m.memoryReads)
	}
	return cycle
}

// registersIn is the general registers in spans.
func registersIn(spans []assemble.RegSpan) (n int) {
	for _, s := range spans {
		if s.First < assemble.PredBase {
			n += int(s.Count)
		}
	}
	return n
}

// OperandFetches counts the general registers, or pairs of them, that an instruction must
// fetch: those among its operands that the one before it in its pipe did not read in
// the same place. The factors of a product can trade places.
func OperandFetches(in, before *assemble.Instr) int {
	n := 0
	for i, s := range in.Src {
		if s.Count == 0 || s.First >= assemble.PredBase {
			continue
		}
		n++
		if i < 2 && before != nil && (before.Src[0] == s || before.Src[1] == s) || contains(in.Src[:i], s) {
			n--
		}
	}
	return n
}

func contains(spans []assemble.RegSpan, s assemble.RegSpan) bool {
	for _, t := range spans {
		if t == s {
			return true
		}
	}
	return false
}
