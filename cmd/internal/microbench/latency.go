package microbench

import (
	"encoding/binary"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

const (
	kiB = int64(1) << 10
	miB = int64(1) << 20
)

// latency is latency.cu: pointer chases, barriers, fences, atomics that return.
func latency(b *bench) {
	span, sink, cell := b.memory(64*spanBytes), b.memory(512), b.memory(4<<16)
	b.cycles(span, 1, launch{entry: entry("chaseShared"), grid: 1, block: 32, args: []any{4096, span, sink}}, func(c float64) {
		b.emit("latency.shared", nil, c/4096, "cycles")
	})
	chaseL1(b, span, sink)
	firstTouch(b, span, sink)
	for _, n := range []int{1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64} {
		chaseConstants(b, n, span, sink)
	}
	for w := 1; w <= 32; w *= 2 {
		b.cycles(span, w, launch{entry: entry("barriers"), grid: 1, block: 32 * w, args: []any{1024, span}}, func(c float64) {
			b.emit("latency.barrier", params{"warps": w}, c/1024, "cycles")
		})
	}
	for i, scope := range []string{"cta", "gpu"} {
		const kinds = 2 // of a scope: without a store in flight, and with one
		b.cycles(span, 1, launch{entry: entry("fences", kinds*i), grid: 1, block: 32, args: []any{256, cell, span}}, func(c float64) {
			b.emit("latency.fence", params{"scope": scope, "pending": "none"}, c/256, "cycles")
		})
	}
	for shared, space := range []string{"global", "shared"} {
		b.cycles(span, 1, launch{entry: entry("chainAtomic"), grid: 1, block: 1, args: []any{cell, shared, 1024, span, sink}}, func(c float64) {
			b.emit("latency.atomic", params{"space": space}, c/1024, "cycles")
		})
	}
}

func chaseL1(b *bench, span, sink buf) {
	const bytes, steps = 16 << 10, 1 << 14
	chain := b.chains(1, bytes/line)
	b.times(2, launch{entry: entry("readAll"), grid: b.SMs * 2, block: 512, args: []any{chain, int64(bytes / 16), sink}})
	b.noted(1, span, 1, launch{entry: entry("chaseGlobal"), grid: 1, block: 1, args: []any{chain, 2 * bytes / line, steps, span, sink}}, func(c float64) {
		b.emit("latency.global", params{"bytes": bytes}, c/steps, "cycles")
	})
}

// firstTouch is what an SM waits for lines that only one other has read, or nobody.
func firstTouch(b *bench, span, sink buf) {
	const lines, regions = 4096, 64
	chain, other := b.chains(regions, lines), b.memory(256*miB)
	b.times(2, launch{entry: entry("readAll"), grid: b.SMs * 2, block: 512, args: []any{other, 256 * miB / 16, sink}}) // L2 has it then, and nothing else
	chase := func(sm, region int, f func(cycles float64)) {
		b.noted(1, span, 1, launch{
			entry: entry("chaseOn"), grid: b.SMs * 4, block: 1,
			args: []any{sm, pointer{chain, int64(region) * lines * line}, lines, span, sink},
		}, f)
	}
	nothing := func(float64) {}
	chase(0, 0, nothing)
	r := 1
	for range 3 {
		chase(0, r, func(c float64) { b.emit("latency.dram_fresh", params{"lines": lines}, c/lines, "cycles") })
		r++
	}
	for reader := 0; reader < b.SMs && r < regions; reader += 5 {
		chase(reader, r, nothing)
		chase(0, r, func(c float64) {
			b.emit("latency.l2_first_touch", params{"read_before_by": reader}, c/lines, "cycles")
		})
		r++
	}
}

// chaseConstants chases through a word in each 64 bytes of so many KiB of constants.
func chaseConstants(b *bench, n int, span, sink buf) {
	const every, steps = 16, 4096 // words
	table := make([]byte, n<<10)
	for i, next := range cycle(n<<8/every, 3) {
		binary.LittleEndian.PutUint32(table[4*every*i:], uint32(every*next))
	}
	b.noted(1, span, 1, launch{
		entry: entry("chaseConstant"), grid: 1, block: 1, args: []any{0, 2 * n << 4, steps, span, sink}, set: &wire.Param{Name: "table", Bytes: table},
	}, func(c float64) { b.emit("latency.constant", params{"bytes": n << 10}, c/steps, "cycles") })
}
