package coalesce

import "math/bits"

const banks = 32

// groupSize is how many lanes are served together: as many as fill all banks.
// 8-byte accesses go by half-warps and 16-byte ones by quarter-warps when
// banks are 4 bytes wide (CUDA C++ Programming Guide, shared memory).
func groupSize(width, bankWidth int) int {
	switch {
	case width <= bankWidth:
		return warpSize
	case width <= 2*bankWidth:
		return warpSize / 2
	case width <= 4*bankWidth:
		return warpSize / 4
	}
	return warpSize / 8
}

// paired reports whether lanes share addresses so that two groups of a wide access fit one pass, half the registers
// that it returns being copies. That is where every active lane has the address of its neighbour (lane xor 1), or
// every one that of lane xor 2. The rule is NVIDIA's for compute capability 7 (forums.developer.nvidia.com/t/77228);
// deploy/calibrate wavefronts.shared_pairs shows it on 9.0, for the whole warp and not by halves of it. It is taken
// to hold for all 4-byte banks.
func paired(addr *Lanes, mask uint32) bool {
	return sharing(addr, mask, 1) || sharing(addr, mask, 2)
}

// sharing reports whether no active lane has another address than lane xor d, where
// that one is active.
func sharing(addr *Lanes, mask uint32, d int) bool {
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & (warpSize - 1)
		if o := (l ^ d) & (warpSize - 1); mask>>o&1 == 1 && addr[o] != addr[l] {
			return false
		}
	}
	return true
}

// rowBits is the logarithm of the 4-byte words in a row of Kepler's 8-byte banks.
const rowBits = 6

// Shared is the number of passes a request of the lanes in mask needs through
// 32 banks of bankWidth bytes: for each group of lanes served together the
// largest number of distinct words in one bank. Lanes that name one word share
// it. ideal is the number of groups, what it takes without conflicts.
// Wide accesses whose lanes share addresses in pairs are served twice as many
// lanes together.
//
// Banks of 8 bytes are Kepler's, in the 4-byte mode that is its default. Words of 4 bytes go to the banks in turn,
// and a bank delivers the two it has of a row of 64 at once (CUDA C Programming Guide, compute capability 3.x).
// Accesses wider than that are taken to meet conflicts as in the 8-byte mode.
func Shared(addr *Lanes, mask uint32, width, bankWidth int) (passes, ideal int) {
	if mask == ^uint32(0) && width == bankWidth {
		if n := strided(addr, uint64(width)); n > 0 {
			return n, 1
		}
	}
	group := groupSize(width, bankWidth)
	if group < warpSize && bankWidth == 4 && paired(addr, mask) {
		group *= 2
	}
	return grouped(addr, mask, group, width, bankWidth)
}

// grouped is the passes and the groups of a request whose lanes are served group
// by group.
func grouped(addr *Lanes, mask uint32, group, width, bankWidth int) (passes, groups int) {
	words := max(1, width/bankWidth)
	shift, row := uint(bits.TrailingZeros(uint(bankWidth))), uint(0)
	if wideBanks(width, bankWidth) {
		shift, row = 2, rowBits
	}
	for first := 0; first < warpSize; first += group {
		lanes := mask >> first & (1<<group - 1)
		if lanes == 0 {
			continue
		}
		groups++
		passes += degree(addr, lanes<<first, words, shift, row)
	}
	return passes, groups
}

// wideBanks reports whether an access goes by rows of 8-byte banks in the 4-byte mode.
func wideBanks(width, bankWidth int) bool { return bankWidth == 8 && width <= 4 }

// strided is the passes of a full warp whose words are a constant stride of whole words apart, 0 for other addresses.
// The lanes fall on 32/g banks, where g is the largest power of two that divides the stride, up to 32.
func strided(addr *Lanes, width uint64) int {
	stride := addr[1] - addr[0]
	if (addr[0]|stride)&(width-1) != 0 {
		return 0
	}
	next := addr[0]
	for _, a := range addr {
		if a != next {
			return 0
		}
		next += stride
	}
	if stride == 0 {
		return 1
	}
	return min(banks, 1<<bits.TrailingZeros64(stride/width))
}

// apart reports whether no two lanes have words in one bank, unless they follow each other and have the same.
func apart(addr *Lanes, lanes uint32, words int, shift uint) bool {
	used, last := uint32(0), ^uint64(0)
	for m := lanes; m != 0; m &= m - 1 {
		word := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> shift
		if word == last {
			continue
		}
		own := bits.RotateLeft32(1<<words-1, int(word%banks))
		if used&own != 0 {
			return false
		}
		used, last = used|own, word
	}
	return true
}

// degree is the largest number of distinct words in one bank, words of one row
// of 1<<row words counting as one. There is at least one lane.
func degree(addr *Lanes, lanes uint32, words int, shift, row uint) int {
	if words < banks && apart(addr, lanes, words, shift) {
		return 1
	}
	return counted(addr, lanes, words, shift, row)
}

// counted is degree, word by word.
func counted(addr *Lanes, lanes uint32, words int, shift, row uint) int {
	var (
		head  [banks]uint8 // 1-based index of a bank's first entry
		count [banks]uint8
		entry [2 * warpSize]struct {
			word uint64
			next uint8
		}
		n   uint8
		top uint8
	)
	for m := lanes; m != 0; m &= m - 1 {
		word := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> shift
	words:
		for w := 0; w < words; w++ {
			b := (word + uint64(w)) % banks
			for e := head[b]; e != 0; e = entry[e-1].next {
				if entry[e-1].word == (word+uint64(w))>>row {
					continue words
				}
			}
			entry[n].word, entry[n].next = (word+uint64(w))>>row, head[b]
			n++
			head[b] = n
			count[b]++
			top = max(top, count[b])
		}
	}
	return int(top)
}

// GlobalPasses is the number of wavefronts of a global access through the L1's
// data banks, which conflict as shared memory does: measured cycles for
// strides of 1, 8 and 16 floats are 1, 8 and 16 (research/simulators.md §2.1).
// Lanes that share addresses gain nothing there, other than in shared memory
// (deploy/calibrate wavefronts.shared_pairs).
func GlobalPasses(addr *Lanes, mask uint32, width int) (passes, ideal int) {
	if width <= 4 {
		return Shared(addr, mask, width, 4)
	}
	return grouped(addr, mask, groupSize(width, 4), width, 4)
}

// GlobalWavefronts is the wavefronts that Nsight Compute counts of a global access. Lanes go by groups, as in
// GlobalPasses, and a group takes as many as the fullest data bank has words of it or the fullest of tagBanks
// has lines, whichever are more.
func GlobalWavefronts(addr *Lanes, mask uint32, width int) (n int) {
	group, words := groupSize(width, 4), max(1, width/4)
	for first := 0; first < warpSize; first += group {
		if lanes := mask >> first & (1<<group - 1) << first; lanes != 0 {
			n += max(degree(addr, lanes, words, 2, 0), tagTurns(addr, lanes))
		}
	}
	return n
}

// tagBanks is how many lines L1 looks up at a time, one of each tag bank: lines of one bank follow each other.
const tagBanks = 4

// tagTurns is the largest number of distinct lines in one tag bank.
func tagTurns(addr *Lanes, lanes uint32) (top int) {
	var seen Lanes
	var count [tagBanks]int
	n := 0
next:
	for m := lanes; m != 0; m &= m - 1 {
		line := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> lineShift
		for i := n - 1; i >= 0; i-- {
			if seen[i&(warpSize-1)] == line {
				continue next
			}
		}
		seen[n&(warpSize-1)] = line
		n++
		b := line % tagBanks
		count[b]++
		top = max(top, count[b])
	}
	return top
}

// Const is the number of distinct words of width bytes that the lanes read:
// the constant port serves one a pass.
func Const(addr *Lanes, mask uint32, width int) int {
	shift := wordShift(width)
	return distinct(addr, mask, shift)
}

// constLine is the bytes of a line of the constant caches.
const constLine = 64

// Visits is how often lanes that read constants one after another come to another line, and whether
// they go back more than once.
func Visits(addr *Lanes, mask uint32) (n int, drawn bool) {
	at, back := uint64(0), 0
	for m := mask; m != 0; m &= m - 1 {
		line := addr[bits.TrailingZeros32(m)&(warpSize-1)]/constLine + 1
		if line != at {
			n++
		}
		if line < at {
			back++
		}
		at = line
	}
	return n, back > 1
}

func wordShift(width int) uint {
	return uint(bits.Len(uint(max(width, 1) - 1)))
}

// distinct counts distinct addresses in units of 1<<shift bytes.
func distinct(addr *Lanes, mask uint32, shift uint) int {
	var seen Lanes
	n := 0
next:
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> shift
		for i := n - 1; i >= 0; i-- {
			if seen[i] == a {
				continue next
			}
		}
		seen[n] = a
		n++
	}
	return n
}

// Turns is the number of passes of a request whose lanes do not share words. For each group of lanes served together
// it is the most that one bank has to do. 32 lanes at one word take 32, and so do 32 words of one bank
// (deploy/calibrate wavefronts.same_address and stride of shared_atom).
func Turns(addr *Lanes, mask uint32, width, bankWidth int) (turns int) {
	group, words, shift := groupSize(width, bankWidth), max(1, width/bankWidth), bits.TrailingZeros(uint(bankWidth))
	for first := 0; first < warpSize; first += group {
		var count [banks]int
		top := 0
		for m := mask & ((1<<group - 1) << first); m != 0; m &= m - 1 {
			word := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> shift
			for w := range uint64(words) {
				b := (word + w) % banks
				count[b]++
				top = max(top, count[b])
			}
		}
		turns += top
	}
	return turns
}

// MaxSame is the largest number of lanes that name the same word of width
// bytes, what atomics serialise on.
func MaxSame(addr *Lanes, mask uint32, width int) int {
	shift := wordShift(width)
	top := 0
	for m := mask; m != 0; m &= m - 1 {
		a := addr[bits.TrailingZeros32(m)&(warpSize-1)] >> shift
		n := 0
		for o := m; o != 0; o &= o - 1 {
			if addr[bits.TrailingZeros32(o)&(warpSize-1)]>>shift == a {
				n++
			}
		}
		top = max(top, n)
	}
	return top
}
