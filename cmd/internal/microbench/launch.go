package microbench

import "encoding/binary"

// launches is launch.cu, and the pace of residency.cu: the clock, what launches and CTAs cost, the
// instruction cache, atomics.
func launches(b *bench) {
	memory, sink, span, ticks := b.memory(256*miB), b.memory(64), b.memory(64*spanBytes), b.memory(16)
	clock(b, ticks)
	gap(b)
	for _, of := range []struct {
		name, entry string
		warps       []int
		args        []any
	}{{"empty", entry("empty"), []int{1, 32}, []any{0}}, {"store", entry("storeOne"), []int{1}, []any{memory}}} {
		const turns = 200
		shared := min(b.SharedSM-2048, b.SharedOptIn) / 256 * 256
		for _, warps := range of.warps {
			b.timed(1, 3, launch{entry: of.entry, grid: turns * b.SMs, block: 32 * warps, shared: max(shared, 0), full: true, args: of.args}, func(us float64) {
				b.emit("launch.turnaround", params{"kernel": of.name, "ctas_per_sm": 1, "warps": warps}, us*1e3/turns, "ns a CTA holds its slot")
			})
		}
	}
	for _, warps := range []int{1, 2, 4, 8} {
		pace(b, warps)
	}
	for _, of := range []struct {
		spread, loops int
		where         string
	}{{0, 16, "one_address"}, {2, 1024, "coalesced"}} {
		b.timed(1, 3, launch{entry: entry("atomics", false), grid: 4 * b.SMs, block: 256, args: []any{memory, of.spread, of.loops, sink}}, func(us float64) {
			b.emit("atomic.global", params{"op": "red", "where": of.where}, perSecond(float64(4*b.SMs*256*of.loops), us), "G lanes/s")
		})
	}
	for _, n := range []int{256, 1024, 2048, 4096, 8192, 16384} {
		loops := max(2, 65536/n)
		b.cycles(span, 1, launch{entry: entry("body", n), grid: 1, block: 32, args: []any{loops, float32(1.01), float32(0.5), span, sink}}, func(c float64) {
			b.emit("icache.body", params{"instructions": n, "bytes": 16 * n, "warps": 1}, c/float64(loops*n), "cycles/instruction of a warp")
		})
	}
	clock(b, ticks)
}

// clock is the SM's, by the GPU's timer.
func clock(b *bench, ticks buf) {
	b.read(3, launch{entry: entry("spin"), grid: 1, block: 1, args: []any{int64(20000000), ticks}}, ticks, 16, func(data []byte) {
		ns, cycles := binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])
		b.emit("clock.sm", nil, float64(cycles)/float64(ns)*1e3, "MHz")
	})
}

// gap is between launches that are long enough to hide the host.
func gap(b *bench) {
	for _, ctas := range []int{1, b.SMs, 2 * b.SMs} {
		for _, threads := range []int{32, 256, 1024} {
			var short float64
			hold := func(ticks int64, f func(float64)) {
				b.timed(200, 3, launch{entry: entry("hold"), grid: ctas, block: threads, args: []any{ticks}}, f)
			}
			hold(20000, func(us float64) { short = us })
			hold(40000, func(us float64) {
				b.emit("launch.gap", params{"ctas": ctas, "threads": threads}, 2*short-us, "us")
			})
		}
	}
}

// pace is how fast CTAs start: the slope from n to 4n of them.
func pace(b *bench, warps int) {
	const n = 1 << 18
	var few float64
	call := func(ctas int, f func(float64)) {
		b.timed(20, 5, launch{entry: entry("empty"), grid: ctas, block: 32 * warps, args: []any{0}}, f)
	}
	call(n, func(us float64) { few = us })
	call(4*n, func(us float64) {
		b.emit("launch.pace", params{"kernel": "empty", "warps": warps}, (us-few)*1e3/(3*n), "ns/CTA")
	})
}

// atomics is atomics.cu: atomics that meet at an address.
func atomics(b *bench) {
	memory := b.memory(32 * miB)
	for _, of := range []struct {
		number, spread, loops int
		op, where             string
	}{{0, 1, 128, "add.u32", "address_per_warp"}, {1, 0, 16, "add.f32", "one_address"}} {
		b.timed(1, 5, launch{entry: entry("meet", of.number), grid: 4 * b.SMs, block: 256, args: []any{memory, 32, of.spread, of.loops}}, func(us float64) {
			b.emit("atomic.meet", params{"op": of.op, "lanes": 32, "where": of.where}, perSecond(float64(4*b.SMs*256*of.loops), us), "G lanes/s")
		})
	}
}

// meetings is meetings.cu: atomics of all SMs on few and on many addresses.
func meetings(b *bench) {
	memory := b.memory(32 * miB)
	for _, of := range []struct{ addresses, spacing, loops int }{{64, 4, 32}, {64, 128, 32}, {4096, 128, 64}} {
		b.timed(1, 5, launch{entry: entry("add", 0, false), grid: 8 * b.SMs, block: 256, args: []any{memory, of.addresses, of.spacing, of.loops}}, func(us float64) {
			b.emit("meetings.atomic", params{"op": "add.u32", "order": "consecutive", "addresses": of.addresses, "spacing": of.spacing}, perSecond(float64(8*b.SMs*256*of.loops), us), "G lanes/s")
		})
	}
}

// reds is reds.cu: atomics on lines that nobody else adds to.
func reds(b *bench) {
	const mib, row, each = 32, 16, 256
	memory := b.memory(mib * miB)
	b.timed(1, 3, launch{entry: entry("scatter", false), grid: 8 * b.SMs, block: 256, args: []any{memory, mib << 13, row, each / row}}, func(us float64) {
		b.emit("reds.scatter", params{"op": "add.u32", "lines": row, "MiB": mib}, perSecond(float64(8*b.SMs*256*each), us), "G lanes/s")
	})
}
