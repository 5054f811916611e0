package sched

// candidate is a ready instruction with the priority it had when it was pushed.
type candidate struct{ cost, waiting, inst int32 }

// before reports whether candidate a is placed before candidate b: the last in program order of equal ones.
func (a *candidate) before(b *candidate) bool {
	switch {
	case a.cost != b.cost:
		return a.cost < b.cost
	case a.waiting != b.waiting:
		return a.waiting < b.waiting
	}
	return a.inst > b.inst
}

// candidates is a binary heap, the one to be placed first at its top.
type candidates []candidate

func (h *candidates) push(c candidate) {
	q := append(*h, c)
	k := len(q) - 1
	for k > 0 && c.before(&q[(k-1)/2]) {
		q[k] = q[(k-1)/2]
		k = (k - 1) / 2
	}
	q[k] = c
	*h = q
}

func (h *candidates) pop() candidate {
	q := *h
	top, n := q[0], len(q)-1
	c, k := q[n], 0
	for 2*k+1 < n {
		child := 2*k + 1
		if child+1 < n && q[child+1].before(&q[child]) {
			child++
		}
		if !q[child].before(&c) {
			break
		}
		q[k] = q[child]
		k = child
	}
	q[k] = c
	*h = q[:n]
	return top
}
