package calibrate

import "math"

// clock is the SM clock in MHz.
func clock(r Results) float64 { return r.where("clock.sm").most() }

func tenth(v float64) float64     { return math.Round(v*10) / 10 }
func hundredth(v float64) float64 { return math.Round(v*100) / 100 }

// perCycle turns 10^9 a second into a cycle's share, to a whole number.
func perCycle(r Results, giga float64) float64 { return math.Round(giga * 1e3 / clock(r)) }

// nominal is the width that hardware is built in nearest to a measured rate,
// when the rate is at most 7 % off it: measurements include the loop around what
// they measure. Other rates are kept to a tenth.
func nominal(v float64) float64 {
	for width := 1.0; width <= 1024; width *= 2 {
		for _, w := range []float64{width, width * 1.5} {
			if w == math.Trunc(w) && math.Abs(v-w) <= 0.07*w {
				return w
			}
		}
	}
	return tenth(v)
}

// lanes is a pipe's width: warp instructions a cycle, times 32.
func lanes(op string) func(Results) float64 {
	return func(r Results) float64 { return nominal(32 * r.where("pipe.rate", "op", op).most()) }
}

func latency(op string) func(Results) float64 {
	return func(r Results) float64 { return math.Round(r.where("pipe.latency", "op", op).first()) }
}

// stride is how many cycles an access of a kind takes whose lanes are side by side: a whole number of
// wavefronts, of a cycle each. The loop around it adds 5 to 9 hundredths (of three runs).
func stride(r Results, kind string) float64 {
	const loop = 0.12
	c := r.where("wavefronts.stride", "kind", kind, "stride", 1).first()
	if whole := math.Floor(c); c-whole <= loop {
		return whole
	}
	return c
}

func lines(r Results, n int) float64 {
	return r.where("wavefronts.lines", "kind", "global_ld", "lines", n).first()
}

func fence(r Results, scope string) float64 {
	return math.Round(r.where("latency.fence", "scope", scope, "pending", "none").first())
}

func atomics(r Results, where string) float64 {
	return r.where("atomic.global", "op", "red", "where", where).first()
}

// apart is the rate of atomics of whole warps on lines that nobody else adds to, G lanes/s.
func apart(r Results) float64 {
	return r.where("reds.scatter", "op", "add.u32", "lines", 16, "MiB", 32).first()
}

// meet is the rate of atomics by whole warps that meet at an address, G lanes/s.
func meet(r Results, op, where string) float64 {
	return r.where("atomic.meet", "op", op, "lanes", 32, "where", where).first()
}

// turnaround is how long a CTA holds its slot, in cycles, one CTA an SM.
func turnaround(r Results, kernel string, warps int) float64 {
	return r.where("launch.turnaround", "kernel", kernel, "ctas_per_sm", 1, "warps", warps).first() * clock(r) / 1e3
}

// efficiency is the best bandwidth of the results over the peak.
func efficiency(r, of Results) float64 {
	return math.Round(of.most()*1e12/r.where("device.dram_bandwidth").first()) / 1e3
}

// Products of matrices that stand for their classes.
const (
	deep     = "m16n8k16.row.col.f32.f16.f16.f32"
	halfSums = "m16n8k16.row.col.f16.f16.f16.f16"
	shallow  = "m16n8k8.row.col.f32.f16.f16.f32"
	doubles  = "m8n8k4.row.col.f64.f64.f64.f64"
)

// tensor is the results of one kind of product of which eight are independent.
func tensor(r Results, name, op string) Results { return r.where(name, "op", op, "chains", 8) }

// deepReads is how many registers the deep product reads.
const deepReads = 10

// tensorReads is how long a product holds the issue slot for each register it reads: the
// time of one with more and more products of two numbers beside it, without those.
func tensorReads(r Results) float64 {
	beside := func(n float64) float64 {
		return subPartitions / tensor(r, "tensor.beside", deep).where("tensor.beside", "beside", "fmul", "each", n).first()
	}
	each := (beside(8) - beside(2)) / 6
	return hundredth((beside(2) - 2*each) / deepReads)
}

// halves are the latencies of an L2's two halves as one SM sees them: the means
// of the results under and over the middle, when these are more than 10 % apart.
func halves(r Results) (near, far float64) {
	touched := r.where("latency.l2_first_touch")
	low, high := math.Inf(1), touched.most()
	for _, one := range touched {
		low = min(low, one.Value)
	}
	if math.IsNaN(high) || high < 1.1*low {
		mean := math.Round(touched.median())
		return mean, mean
	}
	var sum, n [2]float64
	for _, one := range touched {
		side := 0
		if one.Value > (low+high)/2 {
			side = 1
		}
		sum[side] += one.Value
		n[side]++
	}
	return math.Round(sum[0] / n[0]), math.Round(sum[1] / n[1])
}

// constantLevels splits the constant chase into plateaus: results by level, in
// order of footprint. Two levels are always returned, possibly empty.
func constantLevels(r Results) []Results {
	levels := []Results{nil, nil}
	at := 0
	var start float64
	for _, one := range r.where("latency.constant").by("bytes") {
		switch {
		case start == 0:
			start = one.Value
		case one.Value > 1.3*start:
			start = one.Value
			at++
		}
		if at < len(levels) {
			levels[at] = append(levels[at], one)
		}
	}
	return levels
}

// constant is a level's latency without the address instruction between two loads.
func constant(r, level Results) float64 {
	return math.Round(level.median()) - latency("lop3")(r)
}

func constantEnd(r Results, level int) float64 {
	results := constantLevels(r)[level]
	if len(results) == 0 {
		return math.NaN()
	}
	return results[len(results)-1].param("bytes")
}

// instructionSplit is the number of straight-line bodies, by size, that one warp
// runs at full rate: within 1.3 cycles an instruction.
func instructionSplit(r Results) (Results, int) {
	bodies := r.where("icache.body", "warps", 1).by("bytes")
	n := 0
	for n < len(bodies) && bodies[n].Value <= 1.3 {
		n++
	}
	return bodies, n
}

func instructionCache(r Results) float64 {
	bodies, n := instructionSplit(r)
	if n == 0 {
		return math.NaN()
	}
	return bodies[n-1].param("bytes")
}

func instructionFetch(r Results) float64 {
	bodies, n := instructionSplit(r)
	if n == len(bodies) {
		return math.NaN()
	}
	return tenth(bodies[n].Value)
}

// l2Effective is the footprint halfway between the last that all SMs read at
// full rate, within 3 % of that at 8 MiB, and the next.
func l2Effective(r Results) float64 {
	reads := r.where("bandwidth.read_shared").by("bytes")
	full := r.where("bandwidth.read_shared", "bytes", 8<<20).first()
	for i := 1; i < len(reads); i++ {
		if reads[i].param("bytes") > 8<<20 && reads[i].Value < 0.97*full {
			return (reads[i-1].param("bytes") + reads[i].param("bytes")) / 2
		}
	}
	return math.NaN()
}

// beside is how long an instruction holds the issue slot, cycles, and how many registers
// it reads if it is one of the memory pipe.
type beside struct{ held, reads float64 }

// besides is what many sums of floats find of the issue slot taken by an instruction.
func besides(r Results, op string) beside {
	const sums = 20
	of := r.where("slots.beside", "op", op, "sums", sums)
	if len(of) == 0 {
		return beside{math.NaN(), math.NaN()}
	}
	return beside{of[0].Value - r.where("slots.beside", "op", "none", "sums", sums).first() - of[0].param("others"), of[0].param("reads")}
}

func memoryReads(r Results) float64 {
	ops := [...]string{"ld_global", "st_global", "st_global_16", "ld_shared", "st_shared_16"}
	sum := 0.0
	for _, op := range ops {
		b := besides(r, op)
		sum += (b.held - 1) / b.reads
	}
	return hundredth(sum / float64(len(ops)))
}
