package pending

// Mbarrier is the phases of an mbarrier (PTX ISA, mbarrier): one ends once all arrivals and bytes that it
// expects have come. They come in the order of issue; when they do is known then.
type Mbarrier[T cycles] struct {
	Expected, Pending T     // arrivals of a phase, and those still to come of the present one
	Bytes             T     // still to come
	Phases            int64 // ended
	Last              T     // cycle of the last arrival of the present phase
	Done              T     // cycle at which the last phase ended
}

// Arrive takes n arrivals at a cycle, and reports whether they end the phase. An arrival of none may end it, too.
func (b *Mbarrier[T]) Arrive(n, at T) bool {
	b.Pending -= n
	b.Last = max(b.Last, at)
	if b.Pending > 0 || b.Bytes > 0 {
		return false
	}
	b.End()
	return true
}

// End ends the phase, whatever is still to come.
func (b *Mbarrier[T]) End() {
	b.Phases++
	b.Pending, b.Bytes = b.Expected, 0
	b.Done, b.Last = max(b.Done, b.Last), 0
}

// Holds reports whether a wait for a phase of a parity has to wait: it goes on once a phase of that parity has ended,
// the one before the first counting as odd (PTX ISA, mbarrier.test_wait.parity).
func (b *Mbarrier[T]) Holds(parity uint8) bool { return b.Phases&1 == int64(parity) }
