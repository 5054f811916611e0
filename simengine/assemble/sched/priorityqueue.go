package sched

// priorityQueue is a binary heap of instructions, greatest priority first, then program order. An
// entry holds the priority in its upper 32 bits and the inverted number of the instruction in the
// lower.
type priorityQueue []int64

// push adds instruction i with a priority.
func (r *priorityQueue) push(i, frees int32) {
	q := append(*r, int64(frees)<<32|int64(^uint32(i)))
	k := len(q) - 1
	for k > 0 && q[(k-1)/2] < q[k] {
		q[(k-1)/2], q[k] = q[k], q[(k-1)/2]
		k = (k - 1) / 2
	}
	*r = q
}

// most is the priority of the first entry.
func (r priorityQueue) most() int32 { return int32(r[0] >> 32) }

// queuedInst is the instruction of an entry.
func queuedInst(e int64) int32 { return int32(^uint32(e)) }

// pop removes the first entry and returns its instruction and priority.
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
