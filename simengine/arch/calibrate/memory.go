package calibrate

import "math"

// subPartitions is what every SM of compute capability 7 and later has.
const subPartitions = 4

// dramGranule is the smallest access that rows.pieces makes of one place.
const dramGranule = 64

// pieces is the read bandwidth by the bytes read at one random place, in the
// smaller span, where address translation plays no part.
func pieces(r Results) Results {
	return r.where("rows.pieces", "mode", "read", "span", 512<<20).by("piece")
}

// piece is the smallest piece that DRAM reads within 5 % of its best rate.
func piece(r Results) float64 {
	all := pieces(r)
	best := all.most()
	for _, one := range all {
		if one.Value >= 0.95*best {
			return one.param("piece")
		}
	}
	return math.NaN()
}

// opening is what a granule on its own costs beyond its turn, in such turns: of
// a whole piece each granule carries its part of the opening.
func opening(r Results) float64 {
	all := r.where("rows.stride", "mode", "read")
	rate := func(stride float64) float64 { return all.where("rows.stride", "stride", stride).first() }
	return hundredth((rate(dramGranule)/rate(piece(r)) - 1) / (1 - dramGranule/piece(r)))
}

// kept is the footprint, over the size of L2, at which a launch reads the share
// at (0 or 1) of it from DRAM, on the line through the footprints at which it
// reads a quarter and three quarters.
func kept(r Results, at float64) float64 {
	low, high := footprint(r, 0.25), footprint(r, 0.75)
	return hundredth((low + (high-low)/0.5*(at-0.25)) / r.where("device.l2_size").first())
}

// footprint is the one, between those measured, of which a launch that reads it
// over again reads a share from DRAM.
func footprint(r Results, share float64) float64 {
	all := r.where("residency.dram_read", "mode", "read").by("bytes")
	for i := 1; i < len(all); i++ {
		x0, x1 := all[i-1].param("bytes"), all[i].param("bytes")
		y0, y1 := all[i-1].Value/x0, all[i].Value/x1
		if y0 < share && y1 >= share {
			return x0 + (share-y0)/(y1-y0)*(x1-x0)
		}
	}
	return math.NaN()
}

// slices is what a slice of L2 takes for an atomic of a line and for each of its sectors, cycles, and how many
// slices there are. Integer additions of 32 lanes at 64 addresses of 128 bytes are requests of a sector on 16
// pieces of 512 bytes; at 4096 addresses they are on 1024 pieces. At 64 addresses of 4 bytes they are requests of a
// line on one piece. On s slices, n pieces take 1/n + 1/s of what they would on one.
func slices(r Results) (request, sector, count float64) {
	perCycle := func(addresses, spacing int) float64 {
		return r.where("meetings.atomic", "op", "add.u32", "order", "consecutive", "addresses", addresses, "spacing", spacing).first() * 1e3 / clock(r)
	}
	few, many := 1/perCycle(64, 128), 1/perCycle(4096, 128)
	one := (few - many) / (1.0/16 - 1.0/1024)
	count = 1 / (many/one - 1.0/1024)
	line := 32 / perCycle(64, 4) / (1 + 1/count)
	sector = (line - one) / 3
	return one - sector, sector, count
}

// queued is how many instructions of a kind the warps of some sub-partitions, one
// each, issue before they do so at the pace of the load/store unit, less those
// that it has served by then. A single one that is late is not that pace.
func queued(r Results, kind string, parts int) float64 {
	const stall = 16 // cycles an instruction: several times what issuing takes
	all := r.where("queues.issued", "kind", kind, "sub_partitions", parts, "warps", 1).by("instruction")
	late := func(i int) bool {
		return all[i].Value-all[i-1].Value > stall*(all[i].param("instruction")-all[i-1].param("instruction"))
	}
	for i := 1; i < len(all)-2; i++ {
		if !late(i) || !late(i+1) {
			continue
		}
		last, end := all[i-1], all[len(all)-2]
		n := last.param("instruction")
		pace := (end.Value - last.Value) / (end.param("instruction") - n) / float64(parts)
		return n*float64(parts) - (last.Value-all[0].Value)/pace
	}
	return math.NaN()
}

// waited is what dramWait reads.
const waited = "waits.percentile 1 load of 4 bytes, 4 warps on every SM, over latency.dram"

// dramWait is a percentile of how long single lines wait for an idle DRAM, in parts
// of its mean latency.
func dramWait(r Results, percentile int) float64 {
	of := r.where("waits.percentile", "percentile", percentile, "loads", 1, "bytes", 4, "warps", 4).by("sms")
	if len(of) == 0 {
		return math.NaN()
	}
	return math.Round(1e3*of[len(of)-1].Value/r.where("latency.dram_fresh").median()) / 1e3
}

// merged is the bytes a cycle that all SMs get of lines that all of them read in step.
func merged(r Results) float64 {
	all := r.where("merged.read", "stride", 1, "delay", 0).by("sharers")
	if len(all) < 2 {
		return math.NaN()
	}
	last := all.where("merged.read", "sharers", int(all[len(all)-1].param("sharers"))).by("loops")
	short, long := last[0], last[len(last)-1]
	const sector = 32
	return perCycle(r, sector*(long.Value-short.Value)/(long.param("us")-short.param("us"))*1e-3)
}
