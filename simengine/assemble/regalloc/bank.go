package regalloc

// A register file under allocation: one row of bits for each register, one bit for each program
// position at which it is taken. A test or a mark of a live range is a few operations on 64-bit
// words.

// registerFile is one register file under allocation.
type registerFile struct {
	taken [][]uint64 // by register: a bit for each program position
	size  int        // 64-bit words of a row
	most  int        // highest register used plus one
}

// reset frees every register, for a program of that many positions.
func (k *registerFile) reset(positions int) {
	k.size, k.most = positions/64+1, 0
	for r := range k.taken {
		if cap(k.taken[r]) < k.size {
			k.taken[r] = make([]uint64, k.size+k.size/4)
		}
		k.taken[r] = k.taken[r][:k.size]
		clear(k.taken[r])
	}
}

// bits returns the first and last row words of a span, and the bits of the span in these.
func (s span) bits() (from, to int, first, last uint64) {
	from, to = int(s.from>>6), int((s.to-1)>>6)
	return from, to, ^uint64(0) << (s.from & 63), ^uint64(0) >> (63 - (s.to-1)&63)
}

// free reports whether register r is free over spans.
func (k *registerFile) free(r int, spans []span) bool {
	if r >= len(k.taken) {
		return true
	}
	row := k.taken[r]
	for _, s := range spans {
		if s.from >= s.to {
			continue
		}
		from, to, first, last := s.bits()
		if from == to {
			if row[from]&first&last != 0 {
				return false
			}
			continue
		}
		if row[from]&first != 0 || row[to]&last != 0 {
			return false
		}
		for _, w := range row[from+1 : to] {
			if w != 0 {
				return false
			}
		}
	}
	return true
}

// take marks register r taken over spans.
func (k *registerFile) take(r int, spans []span) {
	if len(spans) == 0 {
		return
	}
	for r >= len(k.taken) {
		k.taken = append(k.taken, make([]uint64, k.size))
	}
	row := k.taken[r]
	for _, s := range spans {
		if s.from >= s.to {
			continue
		}
		from, to, first, last := s.bits()
		if from == to {
			row[from] |= first & last
			continue
		}
		row[from] |= first
		row[to] |= last
		for w := from + 1; w < to; w++ {
			row[w] = ^uint64(0)
		}
	}
	k.most = max(k.most, r+1)
}

// place gives a value the lowest free registers, aligned to its size, and returns the first. words
// holds the spans of each of its words. reserved is a register that is never given out, -1 none. Of
// the places that end below limit the first is taken for which clash, if not nil, is false.
func (k *registerFile) place(words [][]span, reserved, limit int, clash func(r int) bool) int {
	w := len(words)
	align := 1
	for align < w {
		align *= 2
	}
	align = min(align, 4)
	lowest := -1
	for r := 0; ; r += align {
		if r = k.next(r, align, words[0]); lowest >= 0 && r+w > limit {
			break
		}
		if reserved >= r && reserved < r+w || !k.allFree(r+1, words[1:]) {
			continue
		}
		if lowest < 0 {
			lowest = r
		}
		if clash == nil || !clash(r) {
			lowest = r
			break
		}
	}
	for i := 0; i < w; i++ {
		k.take(lowest+i, words[i])
	}
	return lowest
}

// placeAbove gives a value of one word the next free register from r on, or the lowest free one if
// there is none below limit, and returns it; -1 if that is not below limit either.
func (k *registerFile) placeAbove(r int, words [][]span, reserved, limit int) int {
	for _, from := range [...]int{r, 0} {
		at := k.next(from, 1, words[0])
		if at == reserved {
			at = k.next(at+1, 1, words[0])
		}
		if at < limit {
			k.take(at, words[0])
			return at
		}
	}
	return -1
}

// next is the first register from r on, in steps of step, that is free over spans.
func (k *registerFile) next(r, step int, spans []span) int {
	if len(spans) != 1 || spans[0].from >= spans[0].to {
		for !k.free(r, spans) {
			r += step
		}
		return r
	}
	from, to, first, last := spans[0].bits()
	if from == to {
		for first &= last; r < len(k.taken) && k.taken[r][from]&first != 0; r += step {
		}
		return r
	}
search:
	for ; r < len(k.taken); r += step {
		row := k.taken[r]
		if row[from]&first != 0 || row[to]&last != 0 {
			continue
		}
		for _, w := range row[from+1 : to] {
			if w != 0 {
				continue search
			}
		}
		break
	}
	return r
}

// allFree reports whether the registers from r on are free, each over the spans of its word.
func (k *registerFile) allFree(r int, words [][]span) bool {
	for i := range words {
		if !k.free(r+i, words[i]) {
			return false
		}
	}
	return true
}

// stackPointer is the register that the ABI reserves, R1.
const stackPointer = 1
