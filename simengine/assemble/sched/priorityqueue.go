package sched

// priorityQueue is a heap of instructions whose operands are there: what each frees in the
// upper half of a number and, the other way round, its place in the program below.
type priorityQueue []int64

func (r *priorityQueue) push(i, frees int32) {
	q := append(*r, int64(frees)<<32|int64(^uint32(i)))
	k := len(q) - 1
	for k > 0 && q[(k-1)/2] < q[k] {
		q[(k-1)/2], q[k] = q[k], q[(k-1)/2]
		k = (k - 1) / 2
	}
	*r = q
}

// most is what the first of the heap frees.
func (r priorityQueue) most() int32 { return int32(r[0] >> 32) }

// queuedInst is the instruction of an entry of the heap.
func queuedInst(e int64) int32 { return int32(^uint32(e)) }

// pop takes the instruction that frees most, the first of those, off the heap.
func (r *priorityQueue) pop() (i, frees int32) {
	q := *r
	top, last := q[0], len(q)-1
	q[0] = q[last]
	q = q[:last]
	for k := 0; ; {
		c := 2*k + 1
		if c >= last {
			break
		}
		if c+1 < last && q[c+1] > q[c] {
			c++
		}
		if q[k] >= q[c] {
			break
		}
		q[k], q[c] = q[c], q[k]
		k = c
	}
	*r = q
	return queuedInst(top), int32(top >> 32)
}
