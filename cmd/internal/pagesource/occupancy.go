package pagesource

import (
	"github.com/warptune/warptune/cmd/internal/explain"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/page"
)

// occupancy is how many CTAs of a case an SM holds, and how that depends on what a CTA takes.
func occupancy(c *explain.Case, d *arch.Descriptor) *page.Occupancy {
	r := c.Report
	now := arch.Kernel{Threads: c.Subject.Threads, Registers: r.Registers, Shared: r.SharedStatic + r.SharedDynamic, Static: r.SharedStatic}
	o := &page.Occupancy{Note: "Each curve varies one quantity and keeps the others. The carve-out is chosen for each point as the driver chooses it"}
	percent := c.Launch.CarveOut
	if percent != arch.DriverCarveOut {
		o.Note += ", with the preference that the configuration asks for"
	}
	o.Note += "."
	at, ok := occupied(d, now, percent)
	if !ok {
		return nil
	}
	o.Present = page.OccupancyPoint{
		Threads: now.Threads, Registers: now.Registers, SharedBytes: now.Shared, CarveOutBytes: at.CarveOut, CTAs: at.CTAs, Warps: at.Warps, Share: at.Theoretical, Limiter: at.Limiter.String(),
	}
	o.Limits = map[string]int{"warps": at.ByWarps, "blocks": at.ByCTAs, "registers": at.ByRegisters, "shared_mem": at.ByShared}
	for threads := 32; threads <= d.MaxThreadsPerCTA; threads += 32 {
		k := now
		k.Threads = threads
		add(&o.ByThreads, threads, d, k, percent)
	}
	for registers := 16; registers <= d.MaxRegistersPerThread; registers++ {
		k := now
		k.Registers = registers
		add(&o.ByRegisters, registers, d, k, percent)
	}
	step := max(d.SharedUnit, 1)
	for step < d.SharedPerCTAOptIn/256 {
		step *= 2
	}
	for bytes := 0; bytes <= d.SharedPerCTAOptIn; bytes += step {
		k := now
		k.Shared, k.Static = bytes, min(now.Static, bytes)
		add(&o.ByShared, bytes, d, k, percent)
	}
	return o
}

func occupied(d *arch.Descriptor, k arch.Kernel, percent int) (arch.Occupancy, bool) {
	carveOut, err := arch.ChooseCarveOut(d, k, percent)
	if err != nil {
		return arch.Occupancy{}, false
	}
	o, err := arch.Occupy(d, k, carveOut)
	return o, err == nil
}

// add adds a point to a curve; where not even one CTA fits, it is 0.
func add(c *page.Curve, x int, d *arch.Descriptor, k arch.Kernel, percent int) {
	o, ok := occupied(d, k, percent)
	limiter := "does not fit"
	if ok {
		limiter = o.Limiter.String()
	}
	c.X, c.CTAs, c.Warps = append(c.X, x), append(c.CTAs, o.CTAs), append(c.Warps, o.Warps)
	c.Share, c.Limiter = append(c.Share, o.Theoretical), append(c.Limiter, limiter)
}
