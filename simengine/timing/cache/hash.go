package cache

// Hash spreads line addresses evenly: it stands for the device's own hash, which
// decides in which half of L2 a line is at home.
func Hash(line uint64) uint64 {
	line *= 0x9e3779b97f4a7c15
	return line ^ line>>29
}
