package forest

import "math"

// grower grows one tree.
type grower struct {
	f    *Forest
	x    [][]float32
	y    []float32
	tree tree
}

// grow makes node at the tree of the rows, which it reorders.
func (g *grower) grow(at int, rows []int32) {
	var sum, square float64
	for _, r := range rows {
		v := float64(g.y[r])
		sum += v
		square += v * v
	}
	n := float64(len(rows))
	mean := sum / n
	spread := square/n - mean*mean
	g.tree[at].mean, g.tree[at].noise = float32(mean), float32(max(spread, 0))
	if len(rows) <= g.f.opts.Leaf || spread < 1e-12 {
		return
	}
	split, ok := g.split(rows, sum)
	if !ok {
		return
	}
	lo, hi := 0, len(rows)
	for lo < hi {
		if split.value(g.x[rows[lo]]) <= split.at {
			lo++
		} else {
			hi--
			rows[lo], rows[hi] = rows[hi], rows[lo]
		}
	}
	left := len(g.tree)
	g.tree = append(g.tree, node{}, node{})
	split.left, split.mean = int32(left), float32(mean)
	g.tree[at] = split
	g.grow(left, rows[:lo])
	g.grow(left+1, rows[lo:])
}

// split draws splits that part the rows and returns the one that leaves the
// least variance: the greatest sum of squared sums over counts. A split lies
// between two rows drawn at random, which costs one pass over the rows where
// one between their extremes would cost two.
func (g *grower) split(rows []int32, total float64) (best node, ok bool) {
	dims := len(g.x[rows[0]])
	want := g.f.opts.Splits
	gain := math.Inf(-1)
	for tries := 4 * want; want > 0 && tries > 0; tries-- {
		s := g.direction(dims)
		u := s.value(g.x[rows[g.f.draw(len(rows))]])
		v := s.value(g.x[rows[g.f.draw(len(rows))]])
		if u == v {
			continue
		}
		want--
		lo, hi := min(u, v), max(u, v)
		if s.at = lo + float32(g.f.draw(1<<20))/(1<<20)*(hi-lo); !(s.at < hi) {
			s.at = lo
		}
		if q := g.gain(&s, rows, total); q > gain {
			gain, best, ok = q, s, true
		}
	}
	return best, ok
}

func (g *grower) gain(s *node, rows []int32, total float64) float64 {
	var sum float64
	n := 0
	for _, r := range rows {
		if s.value(g.x[r]) <= s.at {
			sum += float64(g.y[r])
			n++
		}
	}
	rest := total - sum
	return sum*sum/float64(n) + rest*rest/float64(len(rows)-n)
}

// direction draws what a split looks at: a coordinate, or two.
func (g *grower) direction(dims int) node {
	s := node{a: int32(g.f.draw(dims))}
	if dims > 1 {
		s.b = int32(g.f.draw(dims - 1))
		if s.b >= s.a {
			s.b++
		}
		s.sign = [...]float32{0, 0, 1, -1}[g.f.draw(4)]
	}
	return s
}
