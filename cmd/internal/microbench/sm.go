package microbench

import "encoding/binary"

// access is a kind of it, by its number in wavefronts.cu.
type access struct {
	number int
	name   string
}

var (
	sharedLoad  = access{0, "shared_ld"}
	globalLoad  = access{4, "global_ld"}
	globalStore = access{7, "global_st"}
)

// wavefronts is wavefronts.cu: cycles of the memory pipe a warp instruction.
func wavefronts(b *bench) {
	span, sink, global := b.memory(64*spanBytes), b.memory(64), b.memory(4<<16)
	lanes := func(f func(lane int) int) buf {
		off := make([]uint32, 32)
		for l := range off {
			off[l] = uint32(f(l))
		}
		return b.words(off)
	}
	const unit, body = "cycles/warp instruction", 16.0
	pass := func(kind access, off buf, loops, warps int) launch {
		return launch{entry: entry("pass", kind.number), grid: 1, block: 32 * warps, shared: 49152, args: []any{global, off, loops, span, sink}}
	}
	byWord, byLine := lanes(func(l int) int { return 4 * l }), lanes(func(l int) int { return 4 * (32 * l % 8192) })
	for _, kind := range []access{sharedLoad, globalLoad} {
		b.cycles(span, 32, pass(kind, byWord, 16, 32), func(c float64) {
			b.emit("wavefronts.stride", params{"kind": kind.name, "stride": 1, "width": 4}, c/(16*body*32), unit)
		})
	}
	for _, n := range []int{8, 16, 32} {
		b.cycles(span, 32, pass(globalLoad, lanes(func(l int) int { return l%n*line + 4*l }), 16, 32), func(c float64) {
			b.emit("wavefronts.lines", params{"kind": globalLoad.name, "lines": n}, c/(16*body*32), unit)
		})
	}
	for _, kind := range []access{sharedLoad, globalStore} {
		b.slope(span, 16, pass(kind, byLine, 0, 16), 2, 32, 96, func(c float64) {
			b.emit("wavefronts.slope", params{"kind": kind.name, "stride": 32, "warps": 16}, c/(64*body*16), unit)
		})
	}
	constants := launch{entry: entry("constants"), grid: 1, block: 32 * 16, args: []any{32, 0, span, sink}}
	b.slope(span, 16, constants, 1, 32, 96, func(c float64) {
		b.emit("wavefronts.constant_slope", params{"distinct": 32, "warps": 16}, c/(64*body*16), unit)
	})
}

// queues is queues.cu: when each of many memory instructions in a row is issued, the earliest of several runs.
func queues(b *bench) {
	const count, runs = 48, 5
	global, stored, issued, sink := b.memory(4<<16), b.memory(4<<16), b.memory(16*count*4), b.memory(64)
	for _, of := range []struct {
		number, parts int
		name          string
	}{{0, 4, "global_ld"}, {2, 1, "global_st"}} {
		var least [count]uint32 // what comes between delays some
		for k := range runs {
			b.read(1, launch{entry: entry("fill", of.number), grid: 1, block: 512, args: []any{global, stored, 1, of.parts, issued, sink}}, issued, count*4, func(data []byte) {
				for i := range least {
					v := binary.LittleEndian.Uint32(data[4*i:])
					if k == 0 || v < least[i] {
						least[i] = v
					}
					if k == runs-1 {
						b.emit("queues.issued", params{"kind": of.name, "sub_partitions": of.parts, "warps": 1, "instruction": i + 1}, float64(least[i]), "cycles")
					}
				}
			})
		}
	}
}

// slots is slots.cu: how long instructions hold the issue slot, beside 20 additions.
func slots(b *bench) {
	span, memory := b.memory(64*spanBytes), b.memory(4<<16)
	const additions, loops, threads, steps = 20, 8, 1024, 8 * 16 * 16
	for _, op := range []struct {
		number, reads, others int
		name                  string
	}{
		{0, 0, 0, "none"}, {1, 0, 0, "mul_wide"}, {4, 2, 1, "ld_global"}, {6, 3, 0, "st_global"}, {7, 6, 0, "st_global_16"},
		{8, 1, 1, "ld_shared"}, {9, 5, 0, "st_shared_16"},
	} {
		b.cycles(span, threads/32, launch{
			entry: entry("mix", op.number, additions), grid: 1, block: threads,
			args: []any{span, memory, memory, 32, loops, 0x7ffffff1, 0x3ffffff7, float32(1.0001)},
		}, func(c float64) {
			b.emit("slots.beside", params{"op": op.name, "sums": additions, "reads": op.reads, "others": op.others}, c/steps/(threads/128), "cycles/step")
		})
	}
}
