package timing

// Extent is one buffer: its first and last 128-byte line.
type Extent struct{ First, Last uint64 }
