// Package forest is a regression forest for points of discrete parameters: extremely randomised trees (Geurts,
// Ernst and Wehenkel, Machine Learning 63, 2006). A split looks at one coordinate, or at the sum or difference of
// two (Breiman's Forest-RC, Machine Learning 45, 2001). With logarithms as coordinates these are products and
// quotients of parameters, such as threads in a block or elements a thread, which single parameters cannot tell
// apart.
//
// It predicts a mean and how sure it is, and can replace a part of its trees at
// a time, so that it can follow a search cheaply.
package forest

import "math"

// Forest predicts a number from a point. It is not safe for concurrent use.
type Forest struct {
	trees []tree
	next  int // the tree that Grow replaces next
	opts  Options
	state uint64  // of the generator
	rows  []int32 // scratch
}

// Options of a forest. The zero value of a field stands for its default.
type Options struct {
	Trees  int // 32
	Leaf   int // most points of a leaf that is not split; 1
	Splits int // random splits tried at each node; 16
}

// New returns a forest without trees, which predicts nothing yet. The seed and
// the points grown on determine the trees.
func New(opts Options, seed uint64) *Forest {
	if opts.Trees <= 0 {
		opts.Trees = 32
	}
	if opts.Leaf <= 0 {
		opts.Leaf = 1
	}
	if opts.Splits <= 0 {
		opts.Splits = 16
	}
	return &Forest{opts: opts, state: seed}
}

// draw returns a number from 0 to n-1 by SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014), inlined into the splits, which draw most; its bias is below
// n / 2^32.
func (f *Forest) draw(n int) int {
	f.state += 0x9e3779b97f4a7c15
	z := (f.state ^ f.state>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int(z >> 32 * uint64(n) >> 32)
}

// node is a split, or a leaf when left is zero: points whose coordinate a plus
// sign times coordinate b is at most at go to left, others to left+1.
type node struct {
	a, b  int32
	sign  float32 // 0: a alone
	at    float32
	left  int32
	mean  float32
	noise float32 // variance within a leaf
}

type tree []node

func (n *node) value(x []float32) float32 {
	if n.sign == 0 {
		return x[n.a]
	}
	return x[n.a] + n.sign*x[n.b]
}

// Grow replaces n trees, the oldest first, by trees grown on the points x with
// the targets y; all of them the first time. There must be at least one point.
func (f *Forest) Grow(x [][]float32, y []float32, n int) {
	if len(f.trees) == 0 {
		f.trees = make([]tree, f.opts.Trees)
		n = f.opts.Trees
	}
	for range min(n, len(f.trees)) {
		f.rows = f.rows[:0]
		for k := range x {
			f.rows = append(f.rows, int32(k))
		}
		g := grower{f: f, x: x, y: y, tree: f.trees[f.next][:0]}
		g.tree = append(g.tree, node{})
		g.grow(0, f.rows)
		f.trees[f.next] = g.tree
		f.next = (f.next + 1) % len(f.trees)
	}
}

// Grown reports whether there are trees to predict by.
func (f *Forest) Grown() bool { return len(f.trees) > 0 }

// Predict returns the mean over the trees and the variance of the prediction:
// that of the trees' means plus the mean of the leaves' variances (Hutter et
// al., "Algorithm runtime prediction", AIJ 206, 2014, section 4.3.2).
func (f *Forest) Predict(x []float32) (mean, variance float64) {
	var sum, square, noise float64
	for _, t := range f.trees {
		n := &t[0]
		for n.left > 0 {
			if n.value(x) <= n.at {
				n = &t[n.left]
			} else {
				n = &t[n.left+1]
			}
		}
		m := float64(n.mean)
		sum += m
		square += m * m
		noise += float64(n.noise)
	}
	trees := float64(len(f.trees))
	mean = sum / trees
	return mean, math.Max(0, square/trees-mean*mean) + noise/trees
}
