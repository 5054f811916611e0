package search

import (
	"math"
	"math/bits"
	"sort"
)

// diagram is a reduced decision diagram over some of a space's parameters: the
// valid assignments as paths from the root, equal subtrees stored once. Node 0
// is the end. It is immutable once built.
type diagram struct {
	params []int // indices of the parameters, ascending: one level each
	first  []int32
	edges  []edge
	count  []int64 // paths from a node to the end
	root   int32   // -1: there is none
}

// edge leads from a node to the one below when the level's parameter has the
// value of that digit. Edges of a node ascend by digit.
type edge struct {
	digit  int32 // index of the value
	to     int32
	before int64 // paths through earlier edges of the node
}

func (d *diagram) of(node int32) []edge { return d.edges[d.first[node]:d.first[node+1]] }

// size returns the number of paths.
func (d *diagram) size() int64 {
	if d.root < 0 {
		return 0
	}
	return d.count[d.root]
}

// find returns the edge of a node with a digit.
func (d *diagram) find(node, digit int32) (edge, bool) {
	es := d.of(node)
	k := sort.Search(len(es), func(k int) bool { return es[k].digit >= digit })
	if k == len(es) || es[k].digit != digit {
		return edge{}, false
	}
	return es[k], true
}

// at returns the edge of a node that path number i goes through.
func (d *diagram) at(node int32, i int64) edge {
	es := d.of(node)
	lo, hi := 0, len(es)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; es[mid].before <= i {
			lo = mid
		} else {
			hi = mid
		}
	}
	return es[lo]
}

// add appends a node and returns its number.
func (d *diagram) add(es []edge) int32 {
	if len(d.first) == 0 { // the end, which has no edges and one empty path
		d.first, d.count = []int32{0, 0}, []int64{1}
	}
	var total int64
	for _, e := range es {
		e.before = total
		total = addSaturated(total, d.count[e.to])
		d.edges = append(d.edges, e)
	}
	d.first = append(d.first, int32(len(d.edges)))
	d.count = append(d.count, total)
	return int32(len(d.count) - 1)
}

func addSaturated(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// mulSaturated multiplies numbers that are not negative.
func mulSaturated(a, b int64) int64 {
	if hi, lo := bits.Mul64(uint64(a), uint64(b)); hi == 0 && lo <= math.MaxInt64 {
		return int64(lo)
	}
	return math.MaxInt64
}
