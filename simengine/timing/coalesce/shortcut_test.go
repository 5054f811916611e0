package coalesce

import (
	"math/bits"
	"testing"

	"github.com/warptune/warptune/simengine/trace"
	"pgregory.net/rapid"
)

// drawLanes draws addresses of 32 lanes: some stride or other, a few of them moved.
func drawLanes(t *rapid.T, width uint64) (addr Lanes, mask uint32) {
	stride := rapid.Uint64Range(0, 40).Draw(t, "stride") * width
	for l := range addr {
		addr[l] = 1<<20 + uint64(l)*stride
	}
	for range rapid.IntRange(0, 4).Draw(t, "moved") {
		addr[rapid.IntRange(0, 31).Draw(t, "lane")] = 1<<20 + rapid.Uint64Range(0, 200).Draw(t, "to")*width
	}
	return addr, rapid.Uint32Range(1, ^uint32(0)).Draw(t, "mask")
}

// The shortcut for lanes that are in banks of their own says what counting says.
func TestDegreeIsCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]int{1, 2, 4}).Draw(t, "words")
		addr, mask := drawLanes(t, uint64(4*words))
		for bits.OnesCount32(mask)*words > 2*warpSize { // lanes go by groups of so many words at most
			mask &= mask - 1
		}
		row := rapid.SampledFrom([]uint{0, rowBits}).Draw(t, "row")
		if got, want := degree(&addr, mask, words, 2, row), counted(&addr, mask, words, 2, row); got != want {
			t.Fatalf("%d words a lane, lanes %#x of %v: %d, counted %d", words, mask, addr, got, want)
		}
	})
}

// A sector is fetched twice if any two lanes that read of it write to different sectors.
func TestFetchedTwiceByPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]uint64{4, 8, 16}).Draw(t, "width")
		from, mask := drawLanes(t, width)
		to, _ := drawLanes(t, width)
		p := pattern{addr: from, mask: mask}
		for _, a := range from {
			p.lines = append(p.lines, trace.Line{Addr: a >> lineShift})
		}
		p.fetchTwice(&to)
		want := map[uint64]bool{}
		for l := range 32 {
			for o := range l {
				if mask>>l&1 != 0 && mask>>o&1 != 0 && from[l]/sectorBytes == from[o]/sectorBytes && to[l]/sectorBytes != to[o]/sectorBytes {
					want[from[l]/sectorBytes] = true
				}
			}
		}
		for _, l := range p.lines {
			for s := range uint64(lineBytes / sectorBytes) {
				if got, want := l.Twice>>s&1 != 0, want[l.Addr*(lineBytes/sectorBytes)+s]; got != want {
					t.Fatalf("lanes %#x from %v to %v: sector %d of line %#x fetched twice: %v, want %v", mask, from, to, s, l.Addr, got, want)
				}
			}
		}
	})
}
