package simengine

import "github.com/warptune/warptune/simengine/ir"

// nameCTAWaits names waits for values of CTAs before that are taken to end at once: all but those of a grid whose CTAs are
// resident together, which meet at barriers, and look-backs.
func nameCTAWaits(out *Report, k *ir.Kernel, ctas int64, req *Request) {
	if w := k.WaitsForCTAs(); w.Waits && !w.Back && ctas > int64(out.CTAsPerSM)*int64(req.Arch.SMs) {
		out.NotModelled = append(out.NotModelled, "that CTAs wait for values that CTAs before them write to device memory: each such wait is taken to end at once")
	}
}
