package measure

// reasons are those for low clocks that change what is measured (nvmlClocksEventReasons).
var reasons = []struct {
	bit  uint64
	name string
}{
	{0x4, "power cap"},
	{0x8, "hardware slowdown"},
	{0x20, "software thermal slowdown"},
	{0x40, "hardware thermal slowdown"},
	{0x80, "power brake"},
	{0x2, "application clocks"},
	{0x10, "sync boost"},
	{0x100, "display clocks"},
}

// Throttled says in words why clocks are lower than they could be; nil: they are not. An
// idle GPU's low clocks are no reason.
func Throttled(bits uint64) []string {
	var out []string
	for _, r := range reasons {
		if bits&r.bit != 0 {
			out = append(out, r.name)
		}
	}
	return out
}
