package page

// rooflines are the roofs that every configuration of a sweep can be drawn under, by what is stored of it.
func rooflines(a *Arch) []Roofline {
	var traffic []Traffic
	for _, m := range a.Memory {
		if column, ok := map[string]string{"DRAM": "dram_bytes", "L2": "l2_bytes", "L1 and shared memory": "l1_bytes"}[m.Unit]; ok {
			traffic = append(traffic, Traffic{Level: m.Unit, Column: column, BytesPerSecond: m.PerSecond})
		}
	}
	r := Roofline{
		Title: "Instructions", Work: "warp_instructions", WorkOf: "warp instructions", Traffic: traffic, Ceilings: []Peak{},
		Note: "The instruction roofline (Ding and Williams, PMBS 2019): machine instructions of warps over bytes. Floating-point operations are known of configurations that are explained.",
	}
	for _, p := range a.Compute {
		if p.Of == r.WorkOf {
			r.Ceilings = append(r.Ceilings, p)
		}
	}
	return []Roofline{r}
}
