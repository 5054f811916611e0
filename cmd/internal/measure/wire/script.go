package wire

// Script is launches of one module's kernels in an order, with nothing restored in
// between: what a microbenchmark does.
type Script struct {
	Memory []Memory `json:"memory"`
	Steps  []Step   `json:"steps"`
}

// Memory is device memory: zeros, or the bytes given from its beginning on.
type Memory struct {
	Bytes int64  `json:"bytes"`
	Data  []byte `json:"data,omitempty"`
	// Every is how far apart words of 8 bytes of Data are put, each a byte offset into this
	// memory, to which its address is added: a chain of pointers. 0: Data are bytes.
	Every int64 `json:"every,omitempty"`
}

// Step is a launch, and what is done before and after it.
type Step struct {
	Entry    string  `json:"entry"`
	Grid     uint32  `json:"grid"`
	Block    uint32  `json:"block"`
	Shared   int     `json:"shared,omitempty"`
	CarveOut int     `json:"carve_out"` // percent, -1: the driver's choice
	Params   []Param `json:"params"`    // Buffer is an index of Memory

	Zero []int   `json:"zero,omitempty"` // memory that is filled with zeros before
	Set  *Param  `json:"set,omitempty"`  // a variable of the module and the bytes that it gets before
	Read []Range `json:"read,omitempty"` // after
	// Timed is how often Launches launches back to back are timed, after once that are not.
	// 0: they are launched once.
	Timed    int `json:"timed,omitempty"`
	Launches int `json:"launches"`
}

// Done is what a step gave.
type Done struct {
	Took []float64 `json:"took,omitempty"` // of each time, microseconds a launch
	Read [][]byte  `json:"read,omitempty"`
}
