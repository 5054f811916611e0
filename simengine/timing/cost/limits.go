package cost

// MaxHeads is the loop headers of a warp that both levels tell apart: a loop beyond them is charged with
// the one around it.
const MaxHeads = 8

// constLine is the bytes of a line of the constant caches.
const constLine = 64
