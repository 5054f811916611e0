package cost

// MaxHeads is how many loop headers of a warp are clocked at a time; one beyond
// that is charged with the loop around it only.
const MaxHeads = 8

// MaxGroups is how many cp.async groups of a warp are told apart.
const MaxGroups = 8

// constLine is the bytes of a line of the constant caches.
const constLine = 64
