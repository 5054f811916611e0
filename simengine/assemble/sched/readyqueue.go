package sched

import (
	"math"
	mathbits "math/bits"
)

// readyQueue are the instructions that may issue, those together that need as many
// free registers and issue to the same queue: of them the first is always the one to
// take. They are told by their ranks.
type readyQueue struct {
	sets  []readyBucket
	at    [needs][sharedQueue + 1]int16 // in sets, plus one
	words int
}

type readyBucket struct {
	need  int8
	queue uint8
	count int
	low   int // no member is in a word of bits before
	bits  []uint64
}

// noNeed is the need of what always fits. Others are no more than what an
// instruction writes, and less than that by no more than it reads.
const (
	noNeed = math.MinInt8
	needs  = 64
)

// reset makes the sets empty, for ranks up to n.
func (r *readyQueue) reset(n int) {
	r.words = n/64 + 1
	for k := range r.sets {
		r.sets[k].reset(r.words)
	}
}

func (c *readyBucket) reset(words int) {
	if cap(c.bits) < words {
		c.bits = make([]uint64, words+words/4)
	}
	c.bits = c.bits[:words]
	clear(c.bits)
	c.count, c.low = 0, 0
}

// of returns the set of a need and a queue.
func (r *readyQueue) of(need int8, queue uint8) *readyBucket {
	row := 0
	if need > noNeed {
		row = int(need) + needs/2
	}
	k := &r.at[row][queue]
	if *k == 0 {
		c := readyBucket{need: need, queue: queue}
		c.reset(r.words)
		r.sets = append(r.sets, c)
		*k = int16(len(r.sets))
	}
	return &r.sets[*k-1]
}

func (r *readyQueue) add(need int8, queue uint8, rank int32) {
	c := r.of(need, queue)
	c.bits[rank>>6] |= 1 << (rank & 63)
	c.low = min(c.low, int(rank>>6))
	c.count++
}

func (r *readyQueue) remove(need int8, queue uint8, rank int32) {
	c := r.of(need, queue)
	c.bits[rank>>6] &^= 1 << (rank & 63)
	c.count--
}

// first is the lowest rank of a set that is not empty.
func (c *readyBucket) first() int32 {
	for c.bits[c.low] == 0 {
		c.low++
	}
	return int32(c.low<<6 + mathbits.TrailingZeros64(c.bits[c.low]))
}
