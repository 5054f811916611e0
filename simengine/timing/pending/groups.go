package pending

// MaxGroups is the groups under way that are told apart. A wait for one before them is for the earliest of these.
const MaxGroups = 8

// cycles is a time: whole in the clock, a fraction in closed form.
type cycles interface{ int64 | float64 }

// Groups is groups of asynchronous operations of a warp (PTX ISA, commit_group and wait_group). The zero
// value has none.
type Groups[T cycles] struct {
	done      [MaxGroups]T // when a committed group is done, by its number modulo MaxGroups
	committed int
	latest    T
}

// Add notes when an operation of the open group is done.
func (g *Groups[T]) Add(done T) { g.latest = max(g.latest, done) }

// Commit closes the open group.
func (g *Groups[T]) Commit() {
	g.done[g.committed%MaxGroups] = g.latest
	g.committed++
}

// Until is when no more than so many of the committed groups are under way; 0 where that is so.
func (g *Groups[T]) Until(pending int) (at T) {
	for k := max(g.committed-MaxGroups, 0); k < g.committed-pending; k++ {
		at = max(at, g.done[k%MaxGroups])
	}
	return at
}

// Latest is when all operations are done, committed or not.
func (g *Groups[T]) Latest() T { return g.latest }
