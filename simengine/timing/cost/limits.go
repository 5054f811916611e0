package cost

// What both levels tell apart of a warp at most.
const (
	// MaxHeads is loop headers: a loop beyond them is charged with the one around it.
	MaxHeads = 8
	// MaxGroups is groups of asynchronous copies (cp.async.commit_group) under way.
	MaxGroups = 8
)

// constLine is the bytes of a line of the constant caches.
const constLine = 64
