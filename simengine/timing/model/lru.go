package model

// lines is a fully associative, sectored L1 with least recently used
// replacement: what a cache holds when sets do not matter. Entries stay in the
// table after eviction, without sectors.
type lines struct {
	slots      []line // 0 is the list's anchor
	index      []int32
	used, most int
}

// line is one cache line.
type line struct {
	addr       uint64
	next, prev int32   // in order of use, newest first after the anchor
	round      int32   // when it was filled last
	latency    float32 // of that fill
	valid      uint8   // sectors present
	listed     bool
}

func newLines(most, expect int) *lines {
	size := 256
	for size < 2*expect {
		size *= 2
	}
	c := &lines{slots: make([]line, 1, expect+1), index: make([]int32, size), most: most}
	return c
}

// load makes a line the newest, evicting the oldest when the cache is full, and
// returns it with the sectors it holds. The pointer is good until the next call.
func (c *lines) load(addr uint64) *line {
	i := c.find(addr)
	l := &c.slots[i]
	if l.listed {
		c.unlink(i)
	} else if c.used == c.most {
		oldest := c.slots[0].prev
		c.unlink(oldest)
		c.slots[oldest].valid, c.slots[oldest].listed = 0, false
		c.used--
	}
	if !l.listed {
		l.listed = true
		c.used++
	}
	head := c.slots[0].next
	l.next, l.prev = head, 0
	c.slots[head].prev, c.slots[0].next = i, i
	return l
}

func (c *lines) unlink(i int32) {
	l := &c.slots[i]
	c.slots[l.prev].next, c.slots[l.next].prev = l.next, l.prev
}

func (c *lines) find(addr uint64) int32 {
	if 2*len(c.slots) > len(c.index) {
		c.grow()
	}
	mask := uint64(len(c.index) - 1)
	for h := (addr * 0x9e3779b97f4a7c15) >> 20 & mask; ; h = (h + 1) & mask {
		i := c.index[h]
		if i == 0 {
			c.slots = append(c.slots, line{addr: addr})
			i = int32(len(c.slots) - 1)
			c.index[h] = i
			return i
		}
		if c.slots[i].addr == addr {
			return i
		}
	}
}

func (c *lines) grow() {
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
