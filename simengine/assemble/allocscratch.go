package assemble

// allocScratch is reused by allocations one after another.
type allocScratch struct {
	banks  [numFiles]bank
	ranges rangeBuilder
}
