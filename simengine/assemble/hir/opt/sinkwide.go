package opt

import (
	"slices"

	"github.com/warptune/warptune/simengine/assemble/hir"
	"github.com/warptune/warptune/simengine/assemble/vreg"
	"github.com/warptune/warptune/simengine/ir"
)

// Values that take more registers than what they are computed from, across loops.
//
// Compilers extend the indices of an output tile to 64 bits where they compute them, before the main
// loop; they are read behind it. Their upper words would be live across the loop. ptxas computes them
// where they are read.
//
// Evidence, ptxas corpus (shared launches of attn_forward, sm_90a): the offsets of 8 to 16 rows of the
// output are extended before the loop in PTX, and in machine code behind it for four of five.

// SinkWide moves instructions whose results take more registers than their operands to the only block
// that reads them, if a loop ends on the way there. It is for PTX for one architecture.
func SinkWide(f *hir.Func) error {
	if !f.Target.Specific {
		return nil
	}
	s := newWideSinker(f)
	for _, b := range slices.Backward(f.Order) {
		nodes := slices.Clone(f.Blocks[b].Nodes)
		for k := len(nodes) - 1; k >= 0; k-- {
			ni := nodes[k]
			to := s.target(b, &f.Nodes[ni])
			if to < 0 {
				continue
			}
			nodes = slices.Delete(nodes, k, k+1)
			f.Nodes[ni].Block = int32(to)
			f.Blocks[to].Nodes = slices.Insert(slices.Clone(f.Blocks[to].Nodes), s.firstReader(to, f.Nodes[ni].Dst[0]), ni)
		}
		f.Blocks[b].Nodes = nodes
	}
	return nil
}

// wideSinker knows where values are read and where loops are.
type wideSinker struct {
	f     *hir.Func
	at    []int                     // by block: its place in the order
	loops [][2]int                  // places of the first and the last block of each loop
	wide  map[vreg.Value]vreg.Value // by upper word: the value whose it is (hir.Func.Sign)
	in    []int32                   // by value: the block that reads it, or one of the constants below
}

const (
	notRead       = -1
	readInSeveral = -2
)

func newWideSinker(f *hir.Func) *wideSinker {
	s := &wideSinker{f: f, at: make([]int, len(f.Blocks)), wide: map[vreg.Value]vreg.Value{}, in: make([]int32, len(f.Values))}
	for v, t := range f.Sign {
		s.wide[t] = v
	}
	for i := range s.in {
		s.in[i] = notRead
	}
	for i, b := range f.Order {
		s.at[b] = i
	}
	for i, b := range f.Order {
		for _, h := range f.Blocks[b].Succs {
			if s.at[h] <= i && f.Dominates(h, b) {
				s.loops = append(s.loops, [2]int{s.at[h], i})
			}
		}
		for _, ni := range f.Blocks[b].Nodes {
			s.readBy(&f.Nodes[ni], b)
		}
	}
	return s
}

// readBy records what a node of block b reads.
func (s *wideSinker) readBy(n *hir.Node, b int) {
	n.EachRead(func(v vreg.Value) {
		s.read(v, b)
		if t, is := s.f.Sign[v]; is {
			s.read(t, b)
		}
	})
	for i := range n.Else {
		if o := &n.Else[i]; o.Kind == ir.OperandReg {
			s.in[o.Reg] = readInSeveral
		}
	}
}

func (s *wideSinker) read(v vreg.Value, b int) {
	switch s.in[v] {
	case notRead, int32(b):
		s.in[v] = int32(b)
	default:
		s.in[v] = readInSeveral
	}
}

// target returns the block to move node n of block b to, -1 if it stays.
func (s *wideSinker) target(b int, n *hir.Node) int {
	f := s.f
	if len(n.Dst) != 1 || n.Dst[0] < 0 || n.Guard != vreg.None || n.HasEffect() || hir.IsParam(n) {
		return -1
	}
	v := n.Dst[0]
	if to := int(s.in[v]); f.Values[v].Defs == 1 && f.Values[v].File == vreg.General && to >= 0 && to != b && s.widens(n) && f.Dominates(b, to) && s.crossesLoop(b, to) {
		return to
	}
	return -1
}

// widens reports whether a conversion or a product takes more registers than its operands, none of
// which changes, or is an upper word of one.
func (s *wideSinker) widens(n *hir.Node) bool {
	_, upper := s.wide[n.Dst[0]]
	if !upper && n.Op != ir.Cvt && n.Op != ir.Mul {
		return false
	}
	words := 0
	for i := range n.Src {
		switch o := &n.Src[i]; o.Kind {
		case ir.OperandImm:
		case ir.OperandReg:
			x := &s.f.Values[o.Reg]
			if x.Defs != 1 {
				return false
			}
			if d := s.f.DefOf(vreg.Value(o.Reg)); !x.Uniform && !(d != nil && hir.IsParam(d)) {
				words += int(x.Words)
			}
		default:
			return false
		}
	}
	return upper || words < int(s.f.Values[n.Dst[0]].Words)
}

// crossesLoop reports whether a loop ends on the way from block b to block to, and none that b is not
// in holds the latter.
func (s *wideSinker) crossesLoop(b, to int) (crosses bool) {
	from, end := s.at[b], s.at[to]
	for _, l := range s.loops {
		if l[0] <= end && end <= l[1] && (from < l[0] || from > l[1]) {
			return false
		}
		crosses = crosses || from <= l[1] && l[1] < end
	}
	return crosses
}

// firstReader is the place of the first node in block b that reads v, or that reads or computes the value whose upper word v is.
func (s *wideSinker) firstReader(b int, v vreg.Value) int {
	wide, upper := s.wide[v]
	return slices.IndexFunc(s.f.Blocks[b].Nodes, func(ni int32) bool {
		n := &s.f.Nodes[ni]
		return n.Reads(v) > 0 || upper && (n.Reads(wide) > 0 || slices.Contains(n.Dst, wide))
	})
}
