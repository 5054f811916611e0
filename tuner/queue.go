package tuner

// seqHeap is a heap of trial numbers, the least on top.
type seqHeap []int64

func (h *seqHeap) push(seq int64) {
	q := append(*h, seq)
	*h = q
	for i := len(q) - 1; i > 0; {
		up := (i - 1) / 2
		if q[up] <= q[i] {
			return
		}
		q[up], q[i] = q[i], q[up]
		i = up
	}
}

// pop takes the least off; there must be one.
func (h *seqHeap) pop() int64 {
	q := *h
	least, n := q[0], len(q)-1
	q[0] = q[n]
	q = q[:n]
	*h = q
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			return least
		}
		if right := down + 1; right < n && q[right] < q[down] {
			down = right
		}
		if q[i] <= q[down] {
			return least
		}
		q[i], q[down] = q[down], q[i]
		i = down
	}
}
