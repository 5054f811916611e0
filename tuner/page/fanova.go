package page

import (
	"math"
	"math/rand/v2"
	"slices"
)

// forest is a random forest (Breiman, Machine Learning 45, 2001) over the grid of the parameters' values: bagged
// regression trees whose leaves are boxes of the grid. Their means over the grid are sums over boxes, so the functional
// ANOVA is exact for each tree (Hutter, Hoos and Leyton-Brown, "An Efficient Approach for Assessing Hyperparameter
// Importance", ICML 2014, algorithm 2).
type forest struct {
	sizes []int // values of each parameter
	trees [][]box
	// fit is the coefficient of determination on points by the trees that did not see them; NaN: there are none.
	fit float64
}

// box is a leaf: the points with lo[i] <= x[i] < hi[i].
type box struct {
	lo, hi []uint16
	mean   float64
}

const (
	forestTrees = 32
	forestLeaf  = 3 // fewest points that are split
)

func newForest(random *rand.Rand, sizes []int, x [][]uint16, y []float64) *forest {
	f := &forest{sizes: sizes}
	sum, votes := make([]float64, len(x)), make([]int, len(x))
	for range forestTrees {
		rows, seen := make([]int, len(x)), make([]bool, len(x))
		for i := range rows {
			rows[i] = random.IntN(len(x))
			seen[rows[i]] = true
		}
		all := box{lo: make([]uint16, len(sizes)), hi: make([]uint16, len(sizes))}
		for i, n := range sizes {
			all.hi[i] = uint16(n)
		}
		g := treeGrower{random: random, x: x, y: y}
		g.grow(all, rows)
		f.trees = append(f.trees, g.leaves)
		for k := range x {
			if !seen[k] {
				sum[k] += predict(g.leaves, x[k])
				votes[k]++
			}
		}
	}
	f.fit = determination(y, sum, votes)
	return f
}

// predict is the mean of the leaf that a point is in.
func predict(leaves []box, x []uint16) float64 {
	for i := range leaves {
		if leaves[i].has(x) {
			return leaves[i].mean
		}
	}
	return math.NaN()
}

func (b *box) has(x []uint16) bool {
	for i, v := range x {
		if v < b.lo[i] || v >= b.hi[i] {
			return false
		}
	}
	return true
}

// determination is 1 minus the share of the variance that is left, of points that have votes.
func determination(y, sum []float64, votes []int) float64 {
	var n, mean, left, all float64
	for k, v := range votes {
		if v > 0 {
			n++
			mean += y[k]
		}
	}
	if n == 0 {
		return math.NaN()
	}
	mean /= n
	for k, v := range votes {
		if v > 0 {
			left += math.Pow(y[k]-sum[k]/float64(v), 2)
			all += math.Pow(y[k]-mean, 2)
		}
	}
	if all == 0 {
		return math.NaN()
	}
	return 1 - left/all
}

// treeGrower grows one tree.
type treeGrower struct {
	random *rand.Rand
	x      [][]uint16
	y      []float64
	leaves []box
}

// grow splits a box of points, by the split of least squares of those of a part of the parameters.
func (g *treeGrower) grow(b box, rows []int) {
	mean, spread := 0.0, 0.0
	for _, r := range rows {
		mean += g.y[r]
	}
	mean /= float64(len(rows))
	for _, r := range rows {
		spread += math.Pow(g.y[r]-mean, 2)
	}
	b.mean = mean
	axis, at := -1, 0
	if len(rows) >= forestLeaf && spread > 1e-12 {
		axis, at = g.split(&b, rows)
	}
	if axis < 0 {
		g.leaves = append(g.leaves, b)
		return
	}
	left, right := []int{}, []int{}
	for _, r := range rows {
		if int(g.x[r][axis]) < at {
			left = append(left, r)
		} else {
			right = append(right, r)
		}
	}
	below, above := b, b
	below.hi, above.lo = slices.Clone(b.hi), slices.Clone(b.lo)
	below.hi[axis], above.lo[axis] = uint16(at), uint16(at)
	g.grow(below, left)
	g.grow(above, right)
}

// split is the best split: points below at on an axis go one way; axis -1: there is none.
func (g *treeGrower) split(b *box, rows []int) (axis, at int) {
	axis = -1
	best := math.Inf(-1)
	tried := 0
	want := max(1, (5*len(b.lo)+5)/6) // of the parameters, as the paper's forests do
	for _, i := range g.random.Perm(len(b.lo)) {
		if tried >= want && axis >= 0 {
			break
		}
		tried++
		lo, n := int(b.lo[i]), int(b.hi[i])-int(b.lo[i])
		if n < 2 {
			continue
		}
		sum, count := make([]float64, n), make([]float64, n)
		total := 0.0
		for _, r := range rows {
			k := int(g.x[r][i]) - lo
			sum[k] += g.y[r]
			count[k]++
			total += g.y[r]
		}
		s, c := 0.0, 0.0
		for k := range n - 1 {
			s, c = s+sum[k], c+count[k]
			rest := float64(len(rows)) - c
			if c == 0 || rest == 0 || count[k] == 0 {
				continue
			}
			if gain := s*s/c + (total-s)*(total-s)/rest; gain > best {
				best, axis, at = gain, i, lo+middle(count, k)
			}
		}
	}
	return axis, at
}

// middle is where to cut between the value k and the next that has points: half way.
func middle(count []float64, k int) int {
	next := k + 1
	for count[next] == 0 {
		next++
	}
	return (k + next + 1) / 2
}

// effects are the shares of variance of a forest.
type effects struct {
	main []float64
	mean [][]float64 // of the target, by parameter and value
	pair [][]float64
}

// anova is the mean of the trees' effects.
func (f *forest) anova() *effects {
	n := len(f.sizes)
	e := &effects{main: make([]float64, n), mean: make([][]float64, n), pair: make([][]float64, n)}
	for i := range n {
		e.mean[i], e.pair[i] = make([]float64, f.sizes[i]), make([]float64, n)
	}
	counted := 0.0
	for _, t := range f.trees {
		whole, variance := f.moments(t)
		single := make([][]float64, n)
		for i := range n {
			single[i] = f.single(t, i)
			for v, m := range single[i] {
				e.mean[i][v] += m / float64(len(f.trees))
			}
		}
		if variance <= 1e-15 {
			continue
		}
		counted++
		for i := range n {
			for _, m := range single[i] {
				e.main[i] += math.Pow(m-whole, 2) / float64(f.sizes[i]) / variance
			}
			for j := i + 1; j < n; j++ {
				e.pair[i][j] += f.pair(t, i, j, single, whole) / variance
			}
		}
	}
	for i := range n {
		e.main[i] /= max(counted, 1)
		for j := range n {
			e.pair[i][j] /= max(counted, 1)
		}
	}
	return e
}

// share is the part of the grid that a box has, leaving out some parameters.
func (f *forest) share(b *box, without ...int) float64 {
	s := 1.0
	for i, n := range f.sizes {
		if !slices.Contains(without, i) {
			s *= float64(b.hi[i]-b.lo[i]) / float64(n)
		}
	}
	return s
}

// moments are a tree's mean and variance over the grid.
func (f *forest) moments(t []box) (mean, variance float64) {
	for i := range t {
		mean += t[i].mean * f.share(&t[i])
	}
	for i := range t {
		variance += math.Pow(t[i].mean-mean, 2) * f.share(&t[i])
	}
	return mean, variance
}

// single is a tree's mean by the value of a parameter.
func (f *forest) single(t []box, i int) []float64 {
	out := make([]float64, f.sizes[i])
	for k := range t {
		b := &t[k]
		part := b.mean * f.share(b, i)
		for v := b.lo[i]; v < b.hi[i]; v++ {
			out[v] += part
		}
	}
	return out
}

// pair is the variance of what two parameters do beyond what each does by itself.
func (f *forest) pair(t []box, i, j int, single [][]float64, whole float64) (variance float64) {
	wide := f.sizes[j]
	mean := make([]float64, f.sizes[i]*wide)
	for k := range t {
		b := &t[k]
		part := b.mean * f.share(b, i, j)
		for v := int(b.lo[i]); v < int(b.hi[i]); v++ {
			for w := int(b.lo[j]); w < int(b.hi[j]); w++ {
				mean[v*wide+w] += part
			}
		}
	}
	for v := range f.sizes[i] {
		for w := range wide {
			variance += math.Pow(mean[v*wide+w]-single[i][v]-single[j][w]+whole, 2)
		}
	}
	return variance / float64(len(mean))
}
