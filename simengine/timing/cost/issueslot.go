package cost

import (
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// Slots is how long an instruction holds the issue slot, steps. All hold it a cycle, these
// longer:
//
//   - fp64: a cycle for each pair of registers it reads (deploy/calibrate pipe.rate mix_pair_2ffma, 2pairs, 3pairs). Few
//     operands are still held from the instruction before, which most often is another warp's: 6 of 273 in the machine
//     code of great_circle (datasets/h200-loops-and-doubles) say so.
//   - tensor cores and the memory pipe: by each register they read (slots.beside).
//   - multiplications with an upper word: arch.Descriptor.ProductSlots.
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

// registersIn counts the general registers in spans.
func registersIn(spans []assemble.RegSpan) (n int) {
	for _, s := range spans {
		if s.First < assemble.PredBase {
			n += int(s.Count)
		}
	}
	return n
}

// OperandFetches counts the general registers, or pairs of them, that an instruction must fetch. Not counted are
// those that the instruction before it in its pipe read in the same operand (before; nil for none), and one that an
// earlier operand of its own has. The two factors of a multiply-add count as one place, since they can be exchanged.
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

// OperandsRead is how many cycles after the load/store unit begins with a copy (cp.async) its registers have been read, which
// others may write then: assumed. What overwrites an address waits for all copies before it in the queue, up to 130 cycles
// beside MMAs (deploy/calibrate ring).
const OperandsRead = 10
