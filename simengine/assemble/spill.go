package assemble

// spillState counts what spilling added.
type spillState struct {
	bytes, stores, loads int
}
