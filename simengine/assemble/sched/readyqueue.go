package sched

import (
	"math"
	mathbits "math/bits"
	"slices"
)

// readyQueue holds the ready instructions in buckets. Those in a bucket need the same number of
// free registers and issue to the same queue, so that the one of lowest rank is the only candidate.
type readyQueue struct {
	sets  []readyBucket
	at    [numNeeds][sharedQueue + 1]int16 // by need and queue: index in sets plus one, 0 none
	words int                              // 64-bit words of a bucket
}

// readyBucket is a set of instructions, named by their ranks.
type readyBucket struct {
	need  int8
	queue uint8
	count int
	low   int // all words of bits before it are zero
	bits  []uint64
}

// alwaysFits is the need of an instruction that fits whatever is free. Other needs lie between
// minus and plus the words that an instruction writes.
const (
	alwaysFits = math.MinInt8
	numNeeds   = 64
	mostNeed   = numNeeds/2 - 1 // warpgroup MMAs may need more
)

// reset removes all buckets. Ranks are below n from now on.
func (r *readyQueue) reset(n int) {
	r.words = n/64 + 1
	for k := range r.sets {
		c := &r.sets[k]
		*r.place(c.need, c.queue) = 0
	}
	r.sets = r.sets[:0]
}

// place is where the index of the bucket of a need and a queue stands.
func (r *readyQueue) place(need int8, queue uint8) *int16 {
	row := 0
	if need > alwaysFits {
		row = int(need) + numNeeds/2
	}
	return &r.at[row][queue]
}

func (c *readyBucket) reset(words int) {
	if cap(c.bits) < words {
		c.bits = make([]uint64, words+words/4)
	}
	c.bits = c.bits[:words]
	clear(c.bits)
	c.count, c.low = 0, 0
}

// of returns the bucket of a need and a queue.
func (r *readyQueue) of(need int8, queue uint8) *readyBucket {
	k := r.place(need, queue)
	if *k == 0 {
		n := len(r.sets)
		r.sets = slices.Grow(r.sets, 1)[:n+1]
		c := &r.sets[n] // with the bits of a bucket that was removed
		c.need, c.queue = need, queue
		c.reset(r.words)
		*k = int16(n + 1)
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

// first is the lowest rank of a bucket that is not empty.
func (c *readyBucket) first() int32 {
	for c.bits[c.low] == 0 {
		c.low++
	}
	return int32(c.low<<6 + mathbits.TrailingZeros64(c.bits[c.low]))
}
