package microbench

// pipes is pipes.cu: latency and rate of arithmetic instructions, one CTA on one SM.
func pipes(b *bench) {
	span, sink := b.memory(64*spanBytes), b.memory(64)
	// By their numbers there.
	for _, op := range []struct {
		number int
		name   string
	}{
		{0, "ffma"}, {4, "lop3"}, {5, "shf"}, {6, "imad"}, {9, "mufu_ex2"}, {15, "popc"}, {16, "dfma"}, {18, "hfma2"},
		{19, "shfl"}, {20, "ballot"}, {24, "sqrt"}, {45, "dfma_3pairs"},
	} {
		const loops = 32
		steps := loops * 256.0
		if op.number >= 21 { // as its unroll says
			steps = loops * 64
		}
		run := func(chains, threads int, f func(float64)) {
			b.cycles(span, threads/32, launch{
				entry: entry("pipe", op.number, chains), grid: 1, block: threads,
				args: []any{span, sink, loops, 0x7ffffff1, 0x3ffffff7, float32(1.0001), float32(0.5), 1.000001},
			}, f)
		}
		run(1, 32, func(c float64) { b.emit("pipe.latency", params{"op": op.name}, c/steps, "cycles") })
		for _, threads := range []int{128, 256, 512, 1024} {
			run(4, threads, func(c float64) {
				b.emit("pipe.rate", params{"op": op.name, "warps": threads / 32, "chains": 4}, float64(threads/32)*steps/c, "warp instructions/cycle/SM")
			})
		}
	}
}

// registers is registers.cu: multiply-adds that read three registers of their own.
func registers(b *bench) {
	span, sink, in := b.memory(64*spanBytes), b.memory(64), b.memory(4<<12)
	const apart, body, warps, loops = 3, 512, 16, 32
	for _, n := range []int{8, 16, 32} {
		l := launch{entry: entry("rate", apart, n, 1, body), grid: 1, block: warps * 32, args: []any{span, sink, in, loops, float32(1.0001), float32(0.5)}}
		b.slope(span, warps, l, 3, loops, 2*loops, func(c float64) {
			b.emit("registers.rate", params{"pattern": "apart", "accumulators": n, "rows": 1, "body": body, "warps": warps}, warps*loops*body/c, "warp instructions/cycle/SM")
		})
	}
}

// slope is how many more cycles a launch takes with a greater number as its argument: what starts
// and ends is left out.
func (b *bench) slope(span buf, warps int, l launch, argument, small, great int, f func(cycles float64)) {
	var less float64
	for _, n := range []int{small, great} {
		l.args = append([]any(nil), l.args...)
		l.args[argument] = n
		b.cycles(span, warps, l, func(c float64) {
			if n == small {
				less = c
			} else {
				f(c - less)
			}
		})
	}
}

// tensor is tensor.cu: MMAs, alone and beside multiplications.
func tensor(b *bench) {
	span, memory := b.memory(64*spanBytes), b.memory(4<<13)
	const steps = 16 * 32 // MMAs of a warp
	type operation struct{ kind, name string }
	half, deep := operation{"6F16K16", "m16n8k16.row.col.f16.f16.f16.f16"}, operation{"6F32K16", "m16n8k16.row.col.f32.f16.f16.f32"}
	shallow, doubles := operation{"5F32K8", "m16n8k8.row.col.f32.f16.f16.f32"}, operation{"5F64K4", "m8n8k4.row.col.f64.f64.f64.f64"}
	run := func(op operation, chains, warps, kind, beside int, f func(params, float64)) {
		b.cycles(span, warps, launch{
			entry: entry("products", op.kind, chains, kind, beside), grid: 1, block: 32 * warps, args: []any{span, memory, pointer{memory, 4096}},
		}, func(c float64) { f(params{"op": op.name, "warps": warps, "chains": chains}, c) })
	}
	for _, op := range []operation{deep, shallow, doubles} {
		run(op, 1, 1, 0, 0, func(p params, c float64) { b.emit("tensor.latency", p, c/steps, "cycles") })
	}
	for _, op := range []operation{half, deep, shallow, doubles} {
		for _, warps := range []int{1, 4, 8, 16, 32} {
			run(op, 8, warps, 0, 0, func(p params, c float64) {
				b.emit("tensor.rate", p, float64(warps)*steps/c, "warp instructions/cycle/SM")
			})
		}
	}
	const multiplications = 2
	for _, each := range []int{2, 8} {
		run(deep, 8, 16, multiplications, each, func(p params, c float64) {
			p["beside"], p["each"] = "fmul", each
			b.emit("tensor.beside", p, 16*steps/c, "warp instructions/cycle/SM")
		})
	}
}
