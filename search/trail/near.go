package trail

import "github.com/warptune/warptune/search"

// Digits returns the indices of a configuration's values as a point, appended
// to dst.
func (t *Trail) Digits(i int64, dst []float64) []float64 {
	t.digits = t.Space.Digits(i, t.digits[:0])
	for _, d := range t.digits {
		dst = append(dst, float64(d))
	}
	return dst
}

// Repair returns a configuration not seen at or near a point of digits: the
// nearest, else a neighbour of it, else one that differs in more parameters.
// False: it found none.
func (t *Trail) Repair(point []float64) (int64, bool) {
	i := t.Space.Nearest(point)
	if !t.Seen(i) {
		return i, true
	}
	return t.Near(i)
}

// Near returns a configuration not seen near configuration i: a Hamming
// neighbour at random, else the end of a short random walk. False: it found
// none.
func (t *Trail) Near(i int64) (int64, bool) {
	const walks = 8
	for range walks {
		k, fresh, ok := t.step(i)
		if !ok {
			return 0, false
		}
		if fresh {
			return k, true
		}
		i = k
	}
	return 0, false
}

// step draws a Hamming neighbour of i, one not seen if there is one.
func (t *Trail) step(i int64) (next int64, fresh, ok bool) {
	var unseen, all int
	for k := range t.Space.Neighbours(i, search.Hamming) {
		if all++; t.Rand.IntN(all) == 0 && unseen == 0 {
			next = k
		}
		if t.Seen(k) {
			continue
		}
		if unseen++; t.Rand.IntN(unseen) == 0 {
			next = k
		}
	}
	return next, unseen > 0, all > 0
}

// Move changes n parameters of configuration i, drawn at random, to other
// values at random, and repairs the result; it may be i itself.
func (t *Trail) Move(i int64, n int) int64 {
	t.point = t.Digits(i, t.point[:0])
	for range n {
		p := t.Rand.IntN(len(t.point))
		t.point[p] = float64(t.Rand.IntN(len(t.Space.Params()[p].Values)))
	}
	return t.Space.Nearest(t.point)
}

// Neighbourhood returns the Hamming neighbours of i in random order.
func (t *Trail) Neighbourhood(i int64) []int64 {
	var all []int64
	for k := range t.Space.Neighbours(i, search.Hamming) {
		all = append(all, k)
	}
	t.Rand.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
	return all
}
