package gaussian

import "math"

// parts is into how many equal ratios decay divides a halving.
const parts = 128

// halvings holds 2^(-j/parts).
var halvings = func() (t [parts]float64) {
	for j := range t {
		t[j] = math.Exp2(-float64(j) / parts)
	}
	return t
}()

// decay is exp(-x) for x from 0 up, to some 1e-15 of it: a power of two, one of a
// table, and the first terms of the series for what is left. A fifth of a
// question's time went into math.Exp, which checks for more than can occur here.
func decay(x float64) float64 {
	const most = 700 // beyond it less than 1e-304 is left, which is nothing here
	if !(x < most) {
		return 0
	}
	// n is small and high has trailing zeros, so that the first product is exact;
	// what is left is at most ln 2/parts/2.
	const high, low = 0x1.62e42fefap-8, 0x1.cf79abc9e3b3ap-47
	n := int(x*(parts/math.Ln2) + 0.5)
	f := float64(n)*high - x + float64(n)*low
	p := 1 + f + f*f*(1.0/2+f*(1.0/6)+f*f*(1.0/24))
	return math.Float64frombits(uint64(1023-n/parts)<<52) * halvings[n%parts] * p
}
