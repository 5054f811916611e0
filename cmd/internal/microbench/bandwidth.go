package microbench

import (
	"encoding/binary"

	"github.com/warptune/warptune/cmd/internal/measure/wire"
)

// perSecond is billions a second of something of which n took us.
func perSecond(n, us float64) float64 { return n / us * 1e-3 }

// bandwidth is bandwidth.cu: bytes a second by footprint, by reads and writes, by bytes in flight.
func bandwidth(b *bench) {
	const total, half = 2048 * miB, 512 * miB
	memory, other, sink := b.memory(total), b.memory(half), b.memory(64)
	for _, n := range []int64{1, 2, 4, 8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 256} {
		of, bytes := params{"bytes": n * miB}, float64(n*miB)
		passes := int(max(1, 64/n))
		b.timed(1, 3, launch{entry: entry("readShared"), grid: b.SMs, block: 1024, args: []any{memory, n * miB / 16, passes, sink}}, func(us float64) {
			b.emit("bandwidth.read_shared", of, perSecond(bytes*float64(passes*b.SMs), us), "GB/s")
		})
		writes := int(max(2, 1024/n))
		b.timed(1, 3, stream(b, 0, 1, memory, n*miB/16, writes, sink, 0, 2*b.SMs, 1024), func(us float64) {
			b.emit("bandwidth.write_divided", of, perSecond(bytes*float64(writes), us), "GB/s")
		})
	}
	for _, mix := range [][2]int{{1, 0}, {0, 1}, {1, 1}} {
		n := total / 16 / int64(mix[0]+mix[1])
		for chunked, order := range []string{"interleaved", "chunked"} {
			for _, each := range []int{1, 2, 4, 8} {
				b.timed(1, 3, stream(b, mix[0], mix[1], memory, n, 1, sink, chunked, each*b.SMs, 256), func(us float64) {
					b.emit("bandwidth.mix", params{"reads": mix[0], "writes": mix[1], "order": order, "ctas_per_sm": each}, perSecond(float64(total), us), "GB/s")
				})
			}
		}
	}
	for _, width := range []int{4, 16} {
		for _, loads := range []int{1, 2, 4, 8} {
			inFlight(b, width, loads, memory, other, half)
		}
	}
	port(b, memory, sink)
}

func stream(b *bench, reads, writes int, memory buf, n int64, passes int, sink buf, chunked, ctas, threads int) launch {
	return launch{entry: entry("stream", reads, writes), grid: ctas, block: threads, args: []any{memory, n, passes, sink, chunked}}
}

// inFlight is short CTAs with so many loads of a thread in flight.
func inFlight(b *bench, width, loads int, from, to buf, bytes int64) {
	kind := map[int]string{4: "j", 16: "5uint4"}[width]
	ctas := int(bytes) / width / 256 / loads
	for store := range 2 {
		for _, each := range []int{1, 2, 4, 8} {
			shared := min(b.SharedSM/each-2048, b.SharedOptIn) / 256 * 256
			b.timed(1, 3, launch{entry: entry("inFlight", kind, loads), grid: ctas, block: 256, shared: max(shared, 0), full: true, args: []any{from, to, store}}, func(us float64) {
				b.emit("bandwidth.in_flight", params{"loads": loads, "width": width, "store": store, "ctas_per_sm": each}, perSecond(float64(bytes)*float64(1+store), us), "GB/s")
			})
		}
	}
}

// port is what one SM reads of L2 and writes to it.
func port(b *bench, memory, sink buf) {
	const n, passes = int64(1024 * 8 * 64), 16
	b.timed(1, 3, launch{entry: entry("batched"), grid: 1, block: 1024, args: []any{memory, n, passes, sink}}, func(us float64) {
		b.emit("bandwidth.l2_read_sms", params{"sms": 1}, perSecond(float64(n*16*passes), us), "GB/s")
	})
	b.timed(1, 3, stream(b, 0, 1, memory, n, passes, sink, 0, 1, 1024), func(us float64) {
		b.emit("bandwidth.l2_write_sms", params{"sms": 1}, perSecond(float64(n*16*passes), us), "GB/s")
	})
}

// rows is rows.cu: DRAM by how much is read at a place.
func rows(b *bench) {
	const span, all = 512 * miB, 4096 * miB
	memory, sink := b.memory(all), b.memory(64)
	for words := int64(2); words <= 512; words *= 2 {
		bits := 0
		for 16*words<<(bits+1) <= span {
			bits++
		}
		count := min(int64(1)<<bits, span/(16*max(words, 4)))
		b.timed(1, 3, launch{entry: entry("pieces", 0), grid: 8 * b.SMs, block: 256, args: []any{memory, memory, bits, int(words), count, sink}}, func(us float64) {
			b.emit("rows.pieces", params{"mode": "read", "piece": words * 16, "span": span}, perSecond(float64(count*words*16), us), "GB/s")
		})
	}
	for _, stride := range []int64{32, 64, 128, 256, 512, 1024} {
		n := min(all/stride, 16<<20)
		b.timed(1, 3, launch{entry: entry("strided", 0), grid: int(n / 256), block: 256, args: []any{memory, memory, stride, sink}}, func(us float64) {
			b.emit("rows.stride", params{"mode": "read", "stride": stride, "elements": n}, perSecond(float64(n), us), "G elements/s")
		})
	}
}

// waits is waits.cu: how long warps wait for single lines of an idle DRAM.
func waits(b *bench) {
	const warps, iterations, runs, skipped, bin, bins = 4, 1000, 4, 4, 8, 1024
	once := int64(b.SMs) * warps * 32 * 4
	memory, count, total, sink := b.memory(once*iterations*runs), b.memory(bins*4), b.memory(8), b.memory(8)
	for run := range int64(runs) { // each reads lines of its own; the last counts
		l := launch{entry: entry("waits"), grid: b.SMs, block: warps * 32, args: []any{pointer{memory, run * once * iterations}, iterations, count, total, sink}, zero: []int{int(count), int(total)}}
		if run < runs-1 {
			b.times(1, l)
			continue
		}
		b.read(1, l, count, bins*4, func(data []byte) {
			n, seen, wanted := float64(b.SMs*warps*(iterations-skipped)), 0.0, []int{1, 10, 25, 50, 75, 90, 99}
			for i := 0; i < bins && len(wanted) > 0; i++ {
				seen += float64(binary.LittleEndian.Uint32(data[4*i:]))
				for len(wanted) > 0 && seen >= n*float64(wanted[0])/100 {
					b.emit("waits.percentile", params{"bytes": 4, "loads": 1, "warps": warps, "sms": b.SMs, "percentile": wanted[0]}, (float64(i)+0.5)*bin, "cycles")
					wanted = wanted[1:]
				}
			}
		})
	}
}

// merged is merged.cu: reads of the same lines by all SMs at about the same time.
func merged(b *bench) {
	in, sink := b.memory(32*miB), b.memory(64)
	for _, loops := range []int{64, 1024} {
		way := [6]int32{0, -1, int32(b.SMs), 1, 0, int32(loops)}
		b.timed(1, 1, launch{
			entry: entry("read"), grid: b.SMs, block: 256, shared: min(200<<10, b.SharedOptIn), args: []any{in, way, sink},
			set: &wire.Param{Name: "arrived", Bytes: make([]byte, 4)},
		}, func(us float64) {
			b.emit("merged.read", params{"a": 0, "b": -1, "sharers": b.SMs, "stride": 1, "delay": 0, "loops": loops, "us": us}, float64(b.SMs*loops*4*8*16), "sectors")
		})
	}
}
