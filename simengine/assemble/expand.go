package assemble

import (
	"strings"

	"github.com/warptune/warptune/simengine/ir"
)

// expand emits an expansion of an operation that reads src.
func (s *selector) expand(steps []step, dst arg, src ...arg) {
	var bound [128]arg
	bound['d'], bound['D'] = dst, dst
	for i, a := range src {
		bound["abcv"[i]], bound["ABCV"[i]] = a, a
	}
	at := func(o slot) arg {
		a := bound[o.name]
		if o.word >= 0 && a.kind == argValue {
			a.w, a.n = a.w+uint8(o.word), 1
		}
		return a
	}
	for i := range steps {
		st := &steps[i]
		if (st.op == opBSSY || st.op == opBSYNC) && s.alike(s.n) {
			continue // all lanes branch, or none
		}
		args := make([]arg, len(st.src))
		for k, o := range st.src {
			args[k] = at(o)
		}
		if n := st.dst.name; n != 0 && n != 'd' && n != 'D' && st.guard == 0 && (st.dst.word < 0 || bound[n].kind == argNone) {
			bound[n] = s.fresh(n)
		}
		d := arg{}
		if st.dst.name != 0 {
			d = at(st.dst)
		}
		in := s.emit(st.op, d, args...)
		if st.guard != 0 {
			in.guard = bound[st.guard].v
		}
	}
}

// alike says whether all lanes of a warp have the same operands for a node.
func (s *selector) alike(n *node) bool {
	for i := range n.src {
		if o := &n.src[i]; o.Kind == ir.OperandReg && !s.f.vals[o.Reg].uniform {
			return false
		}
	}
	return true
}

// fresh returns a register of the kind that a letter stands for.
func (s *selector) fresh(name byte) arg {
	switch {
	case strings.IndexByte("pqsz", name) >= 0:
		return s.carry()
	case name >= 'A' && name <= 'Z':
		return s.temp(2)
	}
	return s.temp(1)
}
