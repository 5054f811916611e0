package racecheck

// Read notes that a lane reads bytes. It returns the store that the read races with, and its
// address; nil if none. known is what the lane's warp knows of the other warps of its CTA.
func (s *Series) Read(now Touch, known *Clock, lane Lane, addr uint64, width int) (*Touch, uint64) {
	for at := addr >> s.shift << s.shift; at < addr+uint64(width); at += 1 << s.shift {
		if old := s.read(s.cell(at), &now, known, lane); old != nil {
			return old, at
		}
	}
	return nil, 0
}

// Write notes a store or an atomic, and returns what it races with, as Read does.
func (s *Series) Write(now Touch, known *Clock, lane Lane, addr uint64, width int) (*Touch, uint64) {
	for at := addr >> s.shift << s.shift; at < addr+uint64(width); at += 1 << s.shift {
		if old := s.write(s.cell(at), &now, known, lane, at); old != nil {
			return old, at
		}
	}
	return nil, 0
}

func (s *Series) read(c *cell, now *Touch, known *Clock, lane Lane) *Touch {
	if old := &c.write; old.Run != 0 && !old.Strong && !now.Strong && !s.ordered(old, now, known, lane) {
		return old
	}
	if old := &c.reads[0]; old.Run != now.Run {
		if old.Run != 0 && !old.Strong && s.CTA(old) != s.now.cta {
			c.past = *old
		}
		c.reads = [2]Touch{*now}
		return nil
	}
	for i := range c.reads {
		old := &c.reads[i]
		if old.Run == 0 || old.Thread/warpSize == now.Thread/warpSize || known[old.Thread/warpSize] >= old.Tick {
			*old = *now
			return nil
		}
	}
	return nil
}

func (s *Series) write(c *cell, now *Touch, known *Clock, lane Lane, at uint64) *Touch {
	size := 1 << s.shift
	value, stored := lane.Stores(at, size)
	if !now.Strong {
		for _, old := range [...]*Touch{&c.past, &c.reads[0], &c.reads[1]} {
			if old.Run == 0 || old.Strong || s.ordered(old, now, known, lane) {
				continue
			}
			if stored && c.stored && c.value == value {
				continue // what they read
			}
			if there, ok := lane.Holds(at, size); !ok || !stored || there != value {
				return old
			}
		}
		if old := &c.write; old.Run != 0 && !old.Strong && !(stored && c.stored && value == c.value) && (sameStore(old, now) || !s.ordered(old, now, known, lane)) {
			return old
		}
	}
	c.write, c.reads, c.past = *now, [2]Touch{}, Touch{}
	c.value, c.stored = value, stored
	return nil
}

// sameStore reports whether two accesses are by lanes of one instruction of a warp.
func sameStore(old, now *Touch) bool {
	return old.Run == now.Run && old.Tick == now.Tick && old.PC == now.PC && old.Thread/warpSize == now.Thread/warpSize
}

// ordered reports whether an earlier access comes before the one now.
func (s *Series) ordered(old, now *Touch, known *Clock, lane Lane) bool {
	if old.Run == now.Run {
		return lane.Before(old)
	}
	return s.CTA(old) == s.now.cta || s.after(old, int(now.Thread/warpSize), known)
}
