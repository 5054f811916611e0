package coalesce

import (
	"math/rand/v2"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/trace"
)

const all = ^uint32(0)

// lanes places lane l at base + f(l).
func lanes(base uint64, f func(l int) int) *Lanes {
	var a Lanes
	for l := range a {
		a[l] = base + uint64(f(l))
	}
	return &a
}

func TestSectors(t *testing.T) {
	floats := func(stride int) func(int) int { return func(l int) int { return 4 * stride * l } }
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name           string
		addr           *Lanes
		mask           uint32
		width          int
		lines, sectors int
	}{
		{"consecutive floats", lanes(0x1000, floats(1)), all, 4, 1, 4},
		{"stride 2", lanes(0x1000, floats(2)), all, 4, 2, 8},
		{"stride 4", lanes(0x1000, floats(4)), all, 4, 4, 16},
		{"stride 8", lanes(0x1000, floats(8)), all, 4, 8, 32},
		{"stride 32", lanes(0x1000, floats(32)), all, 4, 32, 32},
		{"backwards", lanes(0x2000, func(l int) int { return -4 * l }), all, 4, 2, 5},
		{"misaligned by 4 bytes", lanes(0x1004, floats(1)), all, 4, 2, 5},
		{"misaligned by a sector", lanes(0x1020, floats(1)), all, 4, 2, 4},
		{"one address", lanes(0x1010, func(int) int { return 0 }), all, 4, 1, 1},
		{"bytes", lanes(0x1000, func(l int) int { return l }), all, 1, 1, 1},
		{"doubles", lanes(0x1000, func(l int) int { return 8 * l }), all, 8, 2, 8},
		{"float4", lanes(0x1000, func(l int) int { return 16 * l }), all, 16, 4, 16},
		{"half a warp", lanes(0x1000, floats(1)), 0xffff, 4, 1, 2},
		{"two rows of 16", lanes(0x1000, func(l int) int { return l/16*4096 + l%16*4 }), all, 4, 2, 4},
		{"random", lanes(0, func(int) int { return int(random.Uint32()&^3) + 1<<20 }), all, 4, 32, 32},
	} {
		var r Request
		r.Global(c.addr, c.mask, c.width, false)
		if r.N != c.lines || r.Sectors() != c.sectors {
			t.Errorf("%s: %d lines, %d sectors, want %d and %d", c.name, r.N, r.Sectors(), c.lines, c.sectors)
		}
	}
}

func TestFullSectors(t *testing.T) {
	var r Request
	r.Global(lanes(0x1004, func(l int) int { return 4 * l }), all, 4, true)
	if r.Lines[0].Full != 0b1110 || r.Lines[1].Full != 0 {
		t.Errorf("misaligned store fills sectors %04b and %04b, want 1110 and 0000", r.Lines[0].Full, r.Lines[1].Full)
	}
	r.Global(lanes(0x1000, func(l int) int { return 16 * l }), all, 16, true)
	for i := range r.Lines[:r.N] {
		if r.Lines[i].Full != 0b1111 {
			t.Errorf("float4 store: line %d fills %04b, want 1111", i, r.Lines[i].Full)
		}
	}
	r.Global(lanes(0x1000, func(l int) int { return 8 * l }), all, 4, true)
	for i := range r.Lines[:r.N] {
		if r.Lines[i].Full != 0 || r.Lines[i].Sectors != 0b1111 {
			t.Errorf("store of every other word: line %d fills %04b of %04b, want none of all", i, r.Lines[i].Full, r.Lines[i].Sectors)
		}
	}
}

func TestBanks(t *testing.T) {
	column := func(pitch int) func(int) int { return func(l int) int { return 4 * pitch * l } }
	for _, c := range []struct {
		name          string
		addr          *Lanes
		mask          uint32
		width, bank   int
		passes, ideal int
	}{
		{"[32][32] tile by rows", lanes(128, column(1)), all, 4, 4, 1, 1},
		{"[32][32] tile by columns", lanes(0, column(32)), all, 4, 4, 32, 1},
		{"[32][33] tile by columns", lanes(0, column(33)), all, 4, 4, 1, 1},
		{"stride 2 words", lanes(0, column(2)), all, 4, 4, 2, 1},
		{"stride 8 words", lanes(0, column(8)), all, 4, 4, 8, 1},
		{"stride 3 words", lanes(0, column(3)), all, 4, 4, 1, 1},
		{"broadcast", lanes(64, func(int) int { return 0 }), all, 4, 4, 1, 1},
		{"two words of one bank", lanes(0, func(l int) int { return l % 2 * 128 }), all, 4, 4, 2, 1},
		{"bytes of shared words", lanes(0, func(l int) int { return l }), all, 1, 4, 1, 1},
		{"consecutive doubles", lanes(0, func(l int) int { return 8 * l }), all, 8, 4, 2, 2},
		{"doubles, stride 2", lanes(0, func(l int) int { return 16 * l }), all, 8, 4, 4, 2},
		{"consecutive float4", lanes(0, func(l int) int { return 16 * l }), all, 16, 4, 4, 4},
		{"float4 of a quarter warp", lanes(0, func(l int) int { return 16 * l }), 0xff, 16, 4, 1, 1},
		{"doubles, 8-byte banks", lanes(0, func(l int) int { return 8 * l }), all, 8, 8, 1, 1},
		{"stride 2 words, 8-byte banks", lanes(0, column(2)), all, 4, 8, 1, 1},
		{"[32][32] tile by columns, 8-byte banks", lanes(0, column(32)), all, 4, 8, 16, 1},
		{"[64][65] tile by columns, 8-byte banks", lanes(0, column(65)), all, 4, 8, 1, 1},
		{"two words of one bank and row, 8-byte banks", lanes(0, func(l int) int { return l % 2 * 128 }), all, 4, 8, 1, 1},
		{"two words of one bank in two rows, 8-byte banks", lanes(128, func(l int) int { return l % 2 * 128 }), all, 4, 8, 2, 1},
		{"one double for all", lanes(64, func(int) int { return 0 }), all, 8, 4, 1, 1},
		{"one float4 for all", lanes(64, func(int) int { return 0 }), all, 16, 4, 2, 2},
		{"doubles by pairs of lanes", lanes(0, func(l int) int { return l / 2 * 8 }), all, 8, 4, 1, 1},
		{"a double for each half warp, one bank", lanes(0, func(l int) int { return l / 16 * 128 }), all, 8, 4, 2, 1},
		{"float4 of four lanes over and over", lanes(0, func(l int) int { return l % 4 * 16 }), all, 16, 4, 4, 4},
		{"float4, every other pair", lanes(0, func(l int) int { return l % 2 * 16 }), all, 16, 4, 2, 2},
		{"one lane", lanes(0, column(32)), 1 << 7, 4, 4, 1, 1},
		{"no lane", lanes(0, column(32)), 0, 4, 4, 0, 0},
	} {
		passes, ideal := Shared(c.addr, c.mask, c.width, c.bank)
		if passes != c.passes || ideal != c.ideal {
			t.Errorf("%s: %d passes of %d, want %d of %d", c.name, passes, ideal, c.passes, c.ideal)
		}
	}
}

// A load that others were joined to conflicts as the wide one it is, wherever
// among their bytes its own lie.
func TestWidened(t *testing.T) {
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld}}}
	for _, c := range []struct {
		bytes, passes, ideal int
		at                   func(l int) int
	}{
		{8, 1, 1, func(int) int { return 4 }},
		{16, 2, 2, func(int) int { return 8 }},
		{16, 4, 4, func(l int) int { return 16*l + 4 }},
		{16, 8, 4, func(l int) int { return 32*l + 12 }},
	} {
		r := NewRecorder(k, 4)
		r.Widen(0, c.bytes)
		r.Begin(0, 1)
		for i := range 3 {
			r.Access(0, 0, ir.Shared, 4, all, lanes(uint64([...]int{0, 64, 128}[i]), c.at))
			if a := r.CTA().Warps[0].Accesses[i]; int(a.Passes) != c.passes || int(a.Ideal) != c.ideal {
				t.Errorf("%d bytes: %d passes of %d, want %d of %d", c.bytes, a.Passes, a.Ideal, c.passes, c.ideal)
			}
		}
	}
}

func TestConst(t *testing.T) {
	if n := Const(lanes(0, func(l int) int { return 4 * l }), all, 4); n != 32 {
		t.Errorf("lanes with a constant each: %d words, want 32", n)
	}
	if n := Const(lanes(0, func(int) int { return 8 }), all, 4); n != 1 {
		t.Errorf("one constant for all: %d words, want 1", n)
	}
}

func TestMaxSame(t *testing.T) {
	if n := MaxSame(lanes(0, func(l int) int { return l % 8 * 4 }), all, 4); n != 4 {
		t.Errorf("8 counters: %d lanes on one, want 4", n)
	}
	if n := MaxSame(lanes(0, func(int) int { return 0 }), 0xff, 8); n != 8 {
		t.Errorf("one counter: %d lanes, want 8", n)
	}
}

func TestLocal(t *testing.T) {
	var r Request
	r.Local(lanes(8, func(int) int { return 0 }), all, 4, true, 100)
	if r.N != 1 || r.Lines[0] != (trace.Line{Addr: 102, Sectors: 15, Full: 15}) {
		t.Errorf("one spilled word: %d lines, %+v", r.N, r.Lines[0])
	}
	r.Local(lanes(0, func(l int) int { return 4 * l }), all, 4, false, 0)
	if r.N != 32 || r.Sectors() != 32 {
		t.Errorf("a different word for each lane: %d lines, %d sectors, want 32 of each", r.N, r.Sectors())
	}
}

// pattern kinds for the properties below.
func randomLanes(r *rand.Rand, width int) *Lanes {
	span := 1 << (3 + r.IntN(12))
	return lanes(uint64(r.IntN(1<<20)*width), func(int) int { return r.IntN(span) * width })
}

// TestPermutation checks that it does not matter which lane has which address.
func TestPermutation(t *testing.T) {
	const seed = 77
	r := rand.New(rand.NewPCG(seed, 0))
	for round := 0; round < 2000; round++ {
		width := 1 << r.IntN(3) // wider ones are served in groups of lanes
		a := randomLanes(r, width)
		b := *a
		r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		var x, y Request
		x.Global(a, all, width, true)
		y.Global(&b, all, width, true)
		if x.N != y.N {
			t.Fatalf("seed %d round %d: %d lines, %d after a permutation", seed, round, x.N, y.N)
		}
		for i := range x.Lines[:x.N] {
			if x.Lines[i] != y.Lines[i] {
				t.Fatalf("seed %d round %d: line %d is %+v, %+v after a permutation", seed, round, i, x.Lines[i], y.Lines[i])
			}
		}
		p, _ := Shared(a, all, width, 4)
		q, _ := Shared(&b, all, width, 4)
		if p != q || Const(a, all, width) != Const(&b, all, width) || MaxSame(a, all, width) != MaxSame(&b, all, width) {
			t.Fatalf("seed %d round %d: passes change from %d to %d under a permutation", seed, round, p, q)
		}
	}
}

// TestSharedModel8 is TestSharedModel for words of up to 4 bytes in 8-byte banks.
func TestSharedModel8(t *testing.T) {
	const seed = 79
	r := rand.New(rand.NewPCG(seed, 0))
	for round := 0; round < 2000; round++ {
		width := 1 << r.IntN(3)
		a, mask := randomLanes(r, width), r.Uint32()|1
		rows := map[[2]uint64]bool{} // bank, row
		count := map[uint64]int{}
		want := 0
		for l := range a {
			bank, row := a[l]/4%32, a[l]/256
			if mask>>l&1 == 1 && !rows[[2]uint64{bank, row}] {
				rows[[2]uint64{bank, row}] = true
				count[bank]++
				want = max(want, count[bank])
			}
		}
		if got, _ := Shared(a, mask, width, 8); got != want {
			t.Fatalf("seed %d round %d: %d passes, want %d", seed, round, got, want)
		}
	}
}

// TestSharedModel compares with the definition, written with maps.
func TestSharedModel(t *testing.T) {
	const seed = 78
	r := rand.New(rand.NewPCG(seed, 0))
	for round := 0; round < 2000; round++ {
		width := 1 << r.IntN(5)
		a, mask := randomLanes(r, width), r.Uint32()|1
		with := r.IntN(3) // the neighbour that lanes share addresses with, 0: by chance
		for l := range a {
			a[l] = a[l&^with]
		}
		apart := [3]bool{} // some lane has another address than lane xor 1 or 2
		for i := range a {
			for d := 1; d <= 2; d++ {
				apart[d] = apart[d] || mask>>i&1 == 1 && mask>>(i^d)&1 == 1 && a[i] != a[i^d]
			}
		}
		want := 0
		group := min(32, 128/width)
		if width > 4 && !(apart[1] && apart[2]) {
			group *= 2
		}
		for first := 0; first < 32; first += group {
			banks := map[uint64]map[uint64]bool{}
			top := 0
			for l := first; l < first+group; l++ {
				if mask>>l&1 == 0 {
					continue
				}
				for off := 0; off < max(width, 4); off += 4 {
					word := (a[l] + uint64(off)) / 4
					if banks[word%32] == nil {
						banks[word%32] = map[uint64]bool{}
					}
					banks[word%32][word] = true
					top = max(top, len(banks[word%32]))
				}
			}
			want += top
		}
		if got, _ := Shared(a, mask, width, 4); got != want {
			t.Fatalf("seed %d round %d: %d passes, want %d", seed, round, got, want)
		}
	}
}

// TestRecorderPatterns checks that reusing an instruction's last pattern gives
// what a recorder without a past gives.
func TestRecorderPatterns(t *testing.T) {
	for _, bankWidth := range []int{4, 8} {
		testRecorderPatterns(t, bankWidth)
	}
}

func testRecorderPatterns(t *testing.T, bankWidth int) {
	const seed = 79
	r := rand.New(rand.NewPCG(seed, 0))
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld}, {Op: ir.St}, {Op: ir.Atom}}, LocalBytes: 64}
	used := NewRecorder(k, bankWidth)
	used.Begin(0, 2)
	spaces := []ir.Space{ir.Global, ir.Shared, ir.Const, ir.Local}
	for round := 0; round < 3000; round++ {
		pc, space, width := r.IntN(3), spaces[r.IntN(4)], 4<<r.IntN(3)
		step := r.IntN(3) * width
		base := uint64(r.IntN(64)) * uint64(width) * uint64(1+r.IntN(16))
		a := lanes(base, func(l int) int { return l * step })
		mask := all
		if r.IntN(4) == 0 {
			mask = r.Uint32() | 1
		}
		warp := r.IntN(2)
		fresh := NewRecorder(k, bankWidth)
		fresh.Begin(0, 2)
		fresh.Access(warp, pc, space, width, mask, a)
		used.Restart()
		used.Access(warp, pc, space, width, mask, a)
		x, y := Clone(fresh.CTA()).Warps[warp], Clone(used.CTA()).Warps[warp]
		if x.Accesses[0] != y.Accesses[0] || len(x.Lines) != len(y.Lines) {
			t.Fatalf("seed %d round %d: %+v, alone %+v", seed, round, y.Accesses[0], x.Accesses[0])
		}
		for i := range x.Lines {
			if x.Lines[i] != y.Lines[i] {
				t.Fatalf("seed %d round %d: line %+v, alone %+v", seed, round, y.Lines[i], x.Lines[i])
			}
		}
	}
}

func TestWeights(t *testing.T) {
	step := func(block int32, repeat int64) trace.Step { return trace.Step{Block: block, Repeat: repeat} }
	// Outer loop at 1 (3 iterations left out), inner loop at 2 (4 left out).
	w := &trace.Warp{Steps: []trace.Step{
		step(0, 0), step(1, 0), step(2, 0), step(2, 0), step(2, 4), step(2, 0), step(1, 3), step(1, 0), step(9, 0),
	}}
	want := []int64{1, 4, 4, 20, 0, 4, 0, 1, 1}
	for i, got := range Weights(w, nil) {
		if got != want[i] {
			t.Errorf("step %d: weight %d, want %d", i, got, want[i])
		}
	}
}

func TestRecorderAllocates(t *testing.T) {
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld}}}
	r := NewRecorder(k, 4)
	a := lanes(0x1000, func(l int) int { return 12 * l })
	run := func() {
		r.Begin(0, 4)
		for i := 0; i < 100; i++ {
			r.Step(i%4, 0, all)
			a[i%32] += 4
			r.Access(i%4, 0, ir.Global, 4, all, a)
		}
	}
	run()
	if n := testing.AllocsPerRun(20, run); n > 0 {
		t.Errorf("%v allocations for 100 accesses, want none", n)
	}
}

func BenchmarkAccess(b *testing.B) {
	k := &ir.Kernel{Instrs: []ir.Instr{{Op: ir.Ld}}}
	for name, f := range map[string]func(i, l int) int{
		"repeated":  func(i, l int) int { return 4 * l },
		"changing":  func(i, l int) int { return 4*l + i%32*4 },
		"scattered": func(i, l int) int { return (l*l*977 + i*4) &^ 3 },
	} {
		b.Run(name, func(b *testing.B) {
			r := NewRecorder(k, 4)
			r.Begin(0, 1)
			var a Lanes
			i := 0
			for b.Loop() {
				if i%1024 == 0 {
					r.Restart()
				}
				for l := range a {
					a[l] = uint64(f(i, l))
				}
				r.Access(0, 0, ir.Global, 4, all, &a)
				i++
			}
		})
	}
}
