package functional_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// simdCase is a call of x, y and z and what it is by the definition in CUDA's Math API ("SIMD
// Intrinsics", "Integer Intrinsics").
type simdCase struct {
	call string
	want func(x, y, z uint32) uint32
}

// partwise has f of the parts of width bits of x, y and z, each read as a signed number if that is said, in its place.
func partwise(width int, signed bool, f func(x, y, z int64) int64) func(x, y, z uint32) uint32 {
	part := func(w uint32, at int) int64 {
		v := int64(w) >> at & (1<<width - 1)
		if signed && v>>(width-1) != 0 {
			v -= 1 << width
		}
		return v
	}
	return func(x, y, z uint32) uint32 {
		r := uint32(0)
		for at := 0; at < 32; at += width {
			r |= uint32(f(part(x, at), part(y, at), part(z, at))&(1<<width-1)) << at
		}
		return r
	}
}

// summed is the sum of the parts of width bits of what f gives.
func summed(width int, f func(x, y, z uint32) uint32) func(x, y, z uint32) uint32 {
	return func(x, y, z uint32) uint32 {
		r, sum := f(x, y, z), uint32(0)
		for at := 0; at < 32; at += width {
			sum += r >> at & (1<<width - 1)
		}
		return sum
	}
}

func magnitude(x int64) int64 { return max(x, -x) }

// awayFromZero is half of a sum, rounded away from zero.
func awayFromZero(sum int64) int64 {
	if sum < 0 {
		return -((1 - sum) / 2)
	}
	return (sum + 1) / 2
}

var comparisons = map[string]func(x, y int64) bool{
	"eq": func(x, y int64) bool { return x == y }, "ne": func(x, y int64) bool { return x != y },
	"gt": func(x, y int64) bool { return x > y }, "ge": func(x, y int64) bool { return x >= y },
	"lt": func(x, y int64) bool { return x < y }, "le": func(x, y int64) bool { return x <= y },
}

func simdCases() []simdCase {
	var all []simdCase
	add := func(call string, want func(x, y, z uint32) uint32) { all = append(all, simdCase{call, want}) }
	for _, parts := range []int{2, 4} {
		width := 32 / parts
		least, most, unsigned := -int64(1)<<(width-1), int64(1)<<(width-1)-1, int64(1)<<width-1
		clamp := func(v int64) int64 { return max(least, min(most, v)) }
		each := func(name string, signed bool, f func(x, y, _ int64) int64) {
			call := fmt.Sprintf("__v%s%d(x, y)", name, parts)
			if strings.HasPrefix(name, "neg") || name == "abs" || name == "absss" {
				call = fmt.Sprintf("__v%s%d(x)", name, parts)
			}
			add(call, partwise(width, signed, f))
		}
		each("abs", true, func(x, _, _ int64) int64 { return magnitude(x) })
		each("absss", true, func(x, _, _ int64) int64 { return clamp(magnitude(x)) })
		each("neg", true, func(x, _, _ int64) int64 { return -x })
		each("negss", true, func(x, _, _ int64) int64 { return clamp(-x) })
		each("add", true, func(x, y, _ int64) int64 { return x + y })
		each("addss", true, func(x, y, _ int64) int64 { return clamp(x + y) })
		each("addus", false, func(x, y, _ int64) int64 { return min(x+y, unsigned) })
		each("sub", true, func(x, y, _ int64) int64 { return x - y })
		each("subss", true, func(x, y, _ int64) int64 { return clamp(x - y) })
		each("subus", false, func(x, y, _ int64) int64 { return max(x-y, 0) })
		each("avgs", true, func(x, y, _ int64) int64 { return awayFromZero(x + y) })
		each("avgu", false, func(x, y, _ int64) int64 { return (x + y + 1) / 2 })
		each("haddu", false, func(x, y, _ int64) int64 { return (x + y) / 2 })
		for _, signed := range []bool{true, false} {
			sign := map[bool]string{true: "s", false: "u"}[signed]
			apart := func(x, y, _ int64) int64 { return magnitude(x - y) }
			each("absdiff"+sign, signed, apart)
			each("max"+sign, signed, func(x, y, _ int64) int64 { return max(x, y) })
			each("min"+sign, signed, func(x, y, _ int64) int64 { return min(x, y) })
			add(fmt.Sprintf("__vsad%s%d(x, y)", sign, parts), summed(width, partwise(width, signed, apart)))
			for name, is := range comparisons {
				if name != "eq" && name != "ne" {
					name += sign
				} else if !signed {
					continue
				}
				each("cmp"+name, signed, func(x, y, _ int64) int64 { return -int64(truth(is(x, y))) })
				each("set"+name, signed, func(x, y, _ int64) int64 { return int64(truth(is(x, y))) })
			}
		}
	}
	for _, typ := range []string{"s32", "u32", "s16x2", "u16x2"} {
		signed, width := typ[0] == 's', 32
		if strings.HasSuffix(typ, "x2") {
			width = 16
		}
		for _, relu := range []bool{false, true} {
			if relu && !signed {
				continue
			}
			for name, two := range map[string]func(x, y int64) int64{"max": func(x, y int64) int64 { return max(x, y) }, "min": func(x, y int64) int64 { return min(x, y) }} {
				suffix, bound := typ, func(v int64) int64 { return v }
				if relu {
					suffix, bound = typ+"_relu", func(v int64) int64 { return max(v, 0) }
					add("__vi"+name+"_"+suffix+"(x, y)", partwise(width, signed, func(x, y, _ int64) int64 { return bound(two(x, y)) }))
				}
				add("__vi"+name+"3_"+suffix+"(x, y, z)", partwise(width, signed, func(x, y, z int64) int64 { return bound(two(two(x, y), z)) }))
				wrap := func(v int64) int64 {
					v &= 1<<width - 1
					if signed && v>>(width-1) != 0 {
						v -= 1 << width
					}
					return v
				}
				add("__viadd"+name+"_"+suffix+"(x, y, z)", partwise(width, signed, func(x, y, z int64) int64 { return bound(two(wrap(x+y), z)) }))
				if relu {
					continue
				}
				which := partwise(width, signed, func(x, y, _ int64) int64 { return int64(truth(two(x, y) == x)) })
				values := partwise(width, signed, func(x, y, _ int64) int64 { return two(x, y) })
				call := "({ bool p; unsigned r = __vib" + name + "_" + typ + "(x, y, &p); r * 4 + p; })"
				if width == 16 {
					call = "({ bool p, q; unsigned r = __vib" + name + "_" + typ + "(x, y, &p, &q); r * 4 + p * 2 + q; })"
				}
				add(call, func(x, y, z uint32) uint32 {
					w := which(x, y, z)
					return values(x, y, z)*4 + w>>16*2 + w&1
				})
			}
		}
	}
	return all
}

const simdSamples = 4096

// simdInputs are words of parts at the ends of what bytes and pairs hold, words that differ in a bit, and any.
func simdInputs(seed uint64) [3][]uint32 {
	rng := rand.New(rand.NewPCG(seed, 1))
	ends8 := []uint32{0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff}
	ends16 := []uint32{0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff}
	word := func() (w uint32) {
		switch rng.IntN(3) {
		case 0:
			for at := 0; at < 32; at += 8 {
				w |= ends8[rng.IntN(len(ends8))] << at
			}
		case 1:
			w = ends16[rng.IntN(len(ends16))] | ends16[rng.IntN(len(ends16))]<<16
		default:
			w = rng.Uint32()
		}
		return w
	}
	var in [3][]uint32
	for range simdSamples {
		x, y, z := word(), word(), word()
		if rng.IntN(8) == 0 {
			y = x ^ 1<<rng.IntN(32)
		}
		in[0], in[1], in[2] = append(in[0], x), append(in[1], y), append(in[2], z)
	}
	return in
}

func words(w []uint32) []byte {
	var b []byte
	for _, v := range w {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// The intrinsics that work on two or four parts of a word, and those of three, at the ends and at random, for a
// device with instructions for pairs and for one without.
func TestDeviceSIMD(t *testing.T) {
	list := simdCases()
	var calls []string
	for _, c := range list {
		calls = append(calls, c.call)
	}
	source := strings.NewReplacer("CASES", cases("r", calls), "COUNT", fmt.Sprint(simdSamples)).Replace(`
extern "C" __global__ void evaluate(const unsigned* xs, const unsigned* ys, const unsigned* zs, unsigned* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = xs[i], y = ys[i], z = zs[i], r = 0;
  switch (blockIdx.y) {
CASES  }
  out[blockIdx.y * COUNT + i] = r;
}
`)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	in := simdInputs(seed)
	for _, target := range []string{"sm_90", "sm_80"} {
		tab := table{source: source, elem: call.Uint32, rows: len(calls), columns: simdSamples, block: 256}
		out := tab.evaluate(t, target, words(in[0]), words(in[1]), words(in[2]))
		for n, c := range list {
			for i := range simdSamples {
				x, y, z := in[0][i], in[1][i], in[2][i]
				got := binary.LittleEndian.Uint32(out[4*(n*simdSamples+i):])
				if want := c.want(x, y, z); got != want {
					t.Errorf("%s: %s of %08x, %08x, %08x is %08x, want %08x (seed %d)", target, c.call, x, y, z, got, want, seed)
					break
				}
			}
		}
	}
}
