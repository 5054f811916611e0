package random

import "math/bits"

// permutation is a keyed bijection of [0, size): a balanced Feistel network on
// the next even number of bits, walked until the result is in range (Black and
// Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). The walk
// takes fewer than four steps on average, because the network's domain is less
// than four times size.
type permutation struct {
	size int64
	half uint // bits of each half
	keys [rounds]uint64
}

// rounds of the network: 4 suffice for pseudorandomness with ideal round
// functions (Luby and Rackoff), the rest covers for tiny halves.
const rounds = 8

func newPermutation(size int64, seed uint64) permutation {
	p := permutation{size: size}
	if size > 1 {
		p.half = uint(bits.Len64(uint64(size-1))+1) / 2
	}
	for r := range p.keys {
		seed += 0x9e3779b97f4a7c15
		p.keys[r] = mix(seed)
	}
	return p
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// at returns the element at a position, 0 <= position < size.
func (p *permutation) at(position int64) int64 {
	mask := uint64(1)<<p.half - 1
	x := uint64(position)
	for {
		l, r := x>>p.half, x&mask
		for _, k := range p.keys {
			l, r = r, l^mix(r^k)&mask
		}
		if x = l<<p.half | r; x < uint64(p.size) {
			return int64(x)
		}
	}
}

// position returns where an element is: the inverse of at.
func (p *permutation) position(element int64) int64 {
	mask := uint64(1)<<p.half - 1
	x := uint64(element)
	for {
		l, r := x>>p.half, x&mask
		for i := rounds - 1; i >= 0; i-- {
			l, r = r^mix(l^p.keys[i])&mask, l
		}
		if x = l<<p.half | r; x < uint64(p.size) {
			return int64(x)
		}
	}
}
