package analytic

// thrash is how much of what is read again L1 still holds, by how many times its size was read
// in between (of). Under pure least-recently-used replacement nothing would be found beyond 1.
// But warps of a busy SM do not take turns: those that are ahead stay ahead and find their
// lines again, as long as all together do not need much more than there is.
//
// Evidence: CTAs that each walk their own data over and over (RRZE-HPC/gpu-benches, commit 1038c5d, gpu-cache). An
// A100 with 192 KB of L1 finds 0.91, 0.79, 0.40 and nothing of 1.06, 1.23, 1.46 and 1.71 times that (a100_80.txt). A
// V100 with 128 KB finds 0.92, 0.85, 0.67 and nothing of 1.16, 1.34, 1.59 and 1.84 times that (v100.txt). The A100's
// are by time, if that is linear between the time of L1 and that of L2 alone; the V100's by the bytes that L2
// delivers. The A100's are taken for all GPUs: 64 warps of an H200 find 0.93, 0.85, 0.76, 0.60 and 0.27 of 1.06,
// 1.16, 1.29, 1.39 and 1.55 times its L1 (deploy/calibrate crowded). Fewer warps find less, one 0.32 of 1.07 times.
var thrash = [...]struct{ of, found float64 }{{1, 1}, {1.15, 0.91}, {1.35, 0.79}, {1.6, 0.40}}

// l1Lines is a fully associative, sectored L1: what a cache holds when sets do not matter. It
// is a list in order of last use, cut into bands by thrash, with a hash table. Evicted lines
// stay in the table, without sectors.
type l1Lines struct {
	slots []l1Line // 0 is the list's anchor
	index []int32
	bands [len(thrash)]band
	drawn uint64 // state of the generator that tells what of a band is found
}

// band is a part of the list, by how long ago its lines were used.
type band struct {
	used, most int
	last       int32 // the oldest
	found      float64
}

// l1Line is one cache line.
type l1Line struct {
	addr       uint64
	next, prev int32   // in order of use, newest first after the anchor
	round      int32   // when it was filled last
	latency    float32 // of that fill
	valid      uint8   // sectors present
	band       uint8
	listed     bool
}

func newL1Lines(most, expect int) *l1Lines {
	size := 256
	for size < 2*expect {
		size *= 2
	}
	c := &l1Lines{slots: make([]l1Line, 1, expect+1), index: make([]int32, size)}
	before := 0
	for k, b := range thrash {
		c.bands[k] = band{most: int(b.of*float64(most)) - before, found: b.found}
		before += c.bands[k].most
	}
	return c
}

// most is how many lines there are at most, those beyond the size of L1 included of which only
// a share is found.
func (c *l1Lines) most() (n int) {
	for k := range c.bands {
		n += c.bands[k].most
	}
	return n
}

// load makes a line the newest, evicting the oldest when the cache is full, and returns it with the sectors it holds.
// own reports whether only this CTA reads it. Only of such lines is anything found beyond the size of L1. The pointer
// is good until the next call.
func (c *l1Lines) load(addr uint64, own bool) *l1Line {
	i := c.find(addr)
	l := &c.slots[i]
	if l.listed {
		if f := c.bands[l.band].found; f < 1 && (!own || c.draw() >= f) {
			l.valid = 0
		}
		c.unlink(i)
	}
	head := c.slots[0].next
	l.next, l.prev = head, 0
	c.slots[head].prev, c.slots[0].next = i, i
	l.listed, l.band = true, 0
	c.settle(i)
	return l
}

// settle moves the oldest line of each band that is too long to the next one, after line i came
// to the first.
func (c *l1Lines) settle(i int32) {
	for k := range c.bands {
		b := &c.bands[k]
		if b.used++; b.used == 1 {
			b.last = i
		}
		if b.used <= b.most {
			return
		}
		i = b.last
		b.used--
		b.last = c.slots[i].prev
		c.slots[i].band++
	}
	c.cut(i)
	c.slots[i].valid, c.slots[i].listed = 0, false
}

// draw returns the next of a sequence of numbers from 0 to 1 (Knuth's multiplier, TAOCP
// 3.3.4).
func (c *l1Lines) draw() float64 {
	c.drawn = c.drawn*6364136223846793005 + 1442695040888963407
	return float64(c.drawn>>11) / (1 << 53)
}

// unlink takes a line off its band and the list.
func (c *l1Lines) unlink(i int32) {
	b := &c.bands[c.slots[i].band]
	if b.used--; b.last == i {
		b.last = c.slots[i].prev
	}
	c.cut(i)
}

// cut takes a line off the list.
func (c *l1Lines) cut(i int32) {
	l := &c.slots[i]
	c.slots[l.prev].next, c.slots[l.next].prev = l.next, l.prev
}

func (c *l1Lines) find(addr uint64) int32 {
	if 2*len(c.slots) > len(c.index) {
		c.grow()
	}
	mask := uint64(len(c.index) - 1)
	for h := (addr * 0x9e3779b97f4a7c15) >> 20 & mask; ; h = (h + 1) & mask {
		i := c.index[h]
		if i == 0 {
			c.slots = append(c.slots, l1Line{addr: addr})
			i = int32(len(c.slots) - 1)
			c.index[h] = i
			return i
		}
		if c.slots[i].addr == addr {
			return i
		}
	}
}

func (c *l1Lines) grow() {
	c.index = make([]int32, 4*len(c.index))
	mask := uint64(len(c.index) - 1)
	for i := 1; i < len(c.slots); i++ {
		h := (c.slots[i].addr * 0x9e3779b97f4a7c15) >> 20 & mask
		for c.index[h] != 0 {
			h = (h + 1) & mask
		}
		c.index[h] = int32(i)
	}
}
