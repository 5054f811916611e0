package simengine

import (
	"errors"
	"maps"
	"math"
	"sort"

	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/ideal"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/analytic"
	"github.com/warptune/warptune/simengine/timing/clock"
)

// Simulate predicts one configuration. The error is a *Failure.
func (e *Engine) Simulate(m *Module, req Request) (*Report, error) {
	k, program, seat, rec, err := e.prepare(m, &req)
	if err != nil {
		return nil, err
	}
	execution, err := e.inspect(m, k, rec, &req)
	if err != nil {
		return nil, err
	}
	p, err := rec.predict(&req, program, seat)
	if err != nil {
		var f *Failure
		if errors.As(rec.recheck(err), &f) {
			return nil, f
		}
		return nil, &Failure{FailureUnsupported, err}
	}
	out := report(m, &req, k, program, seat, rec, p.result)
	out.FloorUS = p.floorUS
	rec.migrate(out, &req)
	nameCTAWaits(out, k, rec.launch.Grid.Count(), &req)
	rec.nameUnmultiplied(out)
	if req.Lines && req.Level == Model {
		if out.Operations, err = rec.operations(); err != nil {
			return nil, &Failure{FailureUnsupported, err}
		}
	}
	out.Checked, out.Execution = execution.Checked, execution
	if req.Cold {
		rec.countProducts(out, program)
	}
	return out, nil
}

// prepare finds and assembles the kernel of a request. It returns both with the residency of its
// CTAs and the launch's recording.
func (e *Engine) prepare(m *Module, req *Request) (*ir.Kernel, *assemble.Program, *residency, *recording, error) {
	k, err := m.kernel(req.Kernel)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	program, err := e.assembled(m, k, req)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	seat, err := residencyOf(k, program, req)
	if err != nil {
		return nil, nil, nil, nil, &Failure{FailureLaunch, err}
	}
	rec, err := e.record(m, k, program, req)
	return k, program, seat, rec, err
}

// predictionKey is what a prediction depends on besides the launch. Different caps and carve-outs
// often come to the same.
type predictionKey struct {
	program       *assemble.Program
	level         Level
	ctas, l1Bytes int // on an SM
	lines         bool
	ideal         ideal.Set
}

// prediction is the result of run.
type prediction struct {
	result  *timing.Result
	floorUS float64
}

// predict runs a configuration unless one of the same launch had the same key.
func (r *recording) predict(req *Request, program *assemble.Program, seat *residency) (prediction, error) {
	key := predictionKey{program, req.Level, seat.occupancy.CTAs, seat.occupancy.L1Bytes, req.Lines, req.Ideal}
	if p, ok := r.predicted[key]; ok {
		return p, nil
	}
	result, floorUS, err := run(req, program, seat, r)
	if err != nil {
		return prediction{}, err
	}
	p := prediction{result, floorUS}
	if req.Ideal != 0 {
		if p, err = r.noSlower(p, *req, program); err != nil {
			return prediction{}, err
		}
	}
	r.predicted[key] = p
	return p, nil
}

// noSlower is a prediction of an idealised machine, or that of the machine as it is where this is faster. An order
// of events that comes of less to wait for may take longer, and so may more CTAs that displace each other's data.
// Who has the mechanism for nothing need not make use of it.
func (r *recording) noSlower(p prediction, req Request, program *assemble.Program) (prediction, error) {
	req.Ideal = 0
	seat, err := residencyOf(r.kernel, program, &req)
	if err != nil {
		return p, nil
	}
	if _, ok := r.predicted[predictionKey{program, req.Level, seat.occupancy.CTAs, seat.occupancy.L1Bytes, true, 0}]; ok {
		req.Lines = true // known with lines
	}
	plain, err := r.predict(&req, program, seat)
	if err == nil && plain.result.TimeUS < p.result.TimeUS {
		return plain, nil
	}
	return p, err
}

// run predicts the time at the level asked for, and a floor, the least that either level may say.
// Neither the composed nor the clocked time goes below the floor, so their mean does not go below
// the mean of the floor and the composed time, which needs no clocking.
func run(req *Request, program *assemble.Program, seat *residency, rec *recording) (res *timing.Result, floorUS float64, err error) {
	rec.profileSlowPaths()
	device := req.Ideal.Machine(req.Arch)
	in := timing.Input{
		Arch: device, Program: req.Ideal.Program(program), CTAsPerSM: seat.occupancy.CTAs, WarpsPerCTA: seat.warps,
		L1Bytes: seat.occupancy.L1Bytes, Grid: req.Grid, Extents: rec.extents, Source: req.Ideal.Traces(program, device, rec.cta), Cold: req.Cold, Repeated: req.Repeated,
		SlowPaths: rec.slowPaths, Matches: rec.matches, Profile: req.Lines,
	}
	if n := arch.ClusterCTAs(clusterOf(program.Kernel, req)); n > 1 {
		in.Cluster, in.SMs = n, device.ClusterSMs(n)
	}
	in.ProbeSource = req.Ideal.Traces(program, device, rec.probeCTA)
	if req.Level == Model { // the clock would need the neighbours whole
		in.DeviceSource = req.Ideal.Traces(program, device, rec.deviceCTA)
	}
	sample, err := rec.sample()
	if err != nil {
		return nil, 0, err
	}
	in.Spread, in.SpreadCTAs, in.Lengths = sample.IDs, sample.CTAs, sample.Lengths
	in.LongCTAs = rec.ctas[traceKey{id: timing.Middle(rec.grid())}].work > longCTA
	composed, err := analytic.Compose(in)
	if err != nil {
		return nil, 0, err
	}
	floor := composed.Floor
	leastUS := device.Microseconds(floor) + device.LaunchGapUS
	floorUS = math.Min(math.Sqrt(leastUS*composed.TimeUS), composed.TimeUS)
	if req.Level == Model {
		composed.UnderLoad(device)
		return composed, floorUS, nil
	}
	in.Skew, in.Probed = composed.Skew, composed.Probed
	clocked, err := clock.Run(in)
	if err != nil {
		return nil, 0, err
	}
	least := math.Max(floor, composed.LockstepFloor)
	leastUS = device.Microseconds(least) + device.LaunchGapUS
	clocked.TimeUS += device.Microseconds(composed.Tail)
	clocked.TimeUS = math.Sqrt(math.Max(clocked.TimeUS, leastUS) * composed.TimeUS)
	clocked.Cycles = (clocked.TimeUS - device.LaunchGapUS) * device.ClockMHz
	clocked.Work = clocked.Work.Mean(&composed.Work)
	clocked.Account(device) // of the time that is said
	clocked.UnderLoad(device)
	return clocked, floorUS, nil
}

// residency is how CTAs of a configuration reside on an SM.
type residency struct {
	occupancy arch.Occupancy
	warps     int // of a CTA
}

// checkResident refuses a cooperative launch of more CTAs than all SMs hold at a time, as the driver does.
func checkResident(k *ir.Kernel, req *Request, perSM int) error {
	ctas, most := int64(req.Grid[0])*int64(req.Grid[1])*int64(req.Grid[2]), int64(perSM)*int64(req.Arch.SMs)
	if !(req.Cooperative || k.Cooperative()) || ctas <= most {
		return nil
	}
	return &arch.LaunchError{Arch: req.Arch.Name, Limit: arch.LimitResident, Want: int(ctas), Most: int(most), What: "blocks"}
}

// residencyOf applies the CUDA rules for what an SM can hold.
func residencyOf(k *ir.Kernel, p *assemble.Program, req *Request) (*residency, error) {
	threads := req.CTA[0] * req.CTA[1] * req.CTA[2]
	cta := arch.Kernel{Threads: threads, Registers: p.Registers, Shared: req.staticShared(k) + req.DynamicShared, Static: req.staticShared(k), Cluster: arch.ClusterCTAs(clusterOf(k, req))}
	if err := arch.CheckLaunch(req.Arch, req.Grid, req.CTA, cta); err != nil {
		return nil, err
	}
	if err := arch.CheckCluster(req.Arch, req.Grid, clusterOf(k, req)); err != nil {
		return nil, err
	}
	carveOut, err := arch.ChooseCarveOut(req.Arch, cta, req.CarveOut)
	if err != nil {
		return nil, err
	}
	occ, err := arch.Occupy(req.Arch, cta, carveOut)
	if err != nil {
		return nil, err
	}
	if err := checkResident(k, req, occ.CTAs); err != nil {
		return nil, err
	}
	if req.Ideal.Has(ideal.Occupancy) {
		occ.CTAs = min(occ.ByWarps, occ.ByCTAs, occ.ByClusters)
	}
	return &residency{occupancy: occ, warps: (threads + exec.WarpSize - 1) / exec.WarpSize}, nil
}

// clusterOf is the CTAs of a launch's clusters: what the request says, else what the PTX requires.
func clusterOf(k *ir.Kernel, req *Request) [3]int {
	if req.Cluster != [3]int{} {
		return req.Cluster
	}
	return k.Cluster
}

func report(m *Module, req *Request, k *ir.Kernel, p *assemble.Program, seat *residency, rec *recording, res *timing.Result) *Report {
	ctas := float64(rec.launch.Grid.Count())
	r := &Report{
		Kernel: k.Name, Arch: req.Arch.Name, Level: req.Level.String(), Engine: Version(),
		Module: m.Digest, Device: req.Arch.Digest, Digest: req.Digest(m.Digest),
		TimeUS: res.TimeUS, Cycles: res.Cycles, ErrorShare: math.Hypot(res.SampleError, rec.estimateError()),
		Registers: p.Registers, SpillBytes: p.SpillBytes, LocalBytes: p.LocalBytes,
		SharedStatic: req.staticShared(k), SharedDynamic: req.DynamicShared,
		CarveOut: seat.occupancy.CarveOut, L1Bytes: seat.occupancy.L1Bytes,
		CTAsPerSM: seat.occupancy.CTAs, Occupancy: seat.occupancy.Theoretical, Limiter: seat.occupancy.Limiter.String(),
		Waves: ctas / float64(seat.occupancy.CTAs*req.Arch.SMs),
		Bound: res.Bound.String(), Nearest: res.Nearest.String(),
		Metrics: maps.Clone(res.Metrics), SampledCTAs: int(res.ClockedCTAs), SampledInstructions: res.Issued,
	}
	if req.Assembled != nil {
		r.Assembler = req.Assembled.By
	}
	r.Use = shares(res.Utilisation)
	r.Slots = shares(res.SlotShares(req.Arch))
	r.Stall = stall(r.Slots)
	if p.LocalBytes > p.SpillBytes {
		r.LocalArrays = localArrays(p.Kernel)
	}
	r.Lines = sourceLines(p.Kernel, res.Sites)
	launchMetrics(r, seat)
	return r
}

// stall is the reason that most issue slots go unused for, "" where none was clocked.
func stall(slots []Share) string {
	for _, s := range slots { // the largest first
		if s.Name != "issued" && s.Name != timing.NotSelected.String() {
			return s.Name
		}
	}
	return ""
}

// launchMetrics adds the metrics that Nsight Compute reports of a launch itself.
func launchMetrics(r *Report, seat *residency) {
	if r.Metrics == nil {
		r.Metrics = map[string]float64{}
	}
	o := seat.occupancy
	for name, v := range map[string]float64{
		"launch__registers_per_thread":           float64(r.Registers),
		"launch__shared_mem_per_block_static":    float64(r.SharedStatic),
		"launch__shared_mem_per_block_dynamic":   float64(r.SharedDynamic),
		"launch__shared_mem_config_size":         float64(r.CarveOut),
		"launch__occupancy_limit_registers":      float64(o.ByRegisters),
		"launch__occupancy_limit_shared_mem":     float64(o.ByShared),
		"launch__occupancy_limit_warps":          float64(o.ByWarps),
		"launch__occupancy_limit_blocks":         float64(o.ByCTAs),
		"launch__waves_per_multiprocessor":       r.Waves,
		"sm__maximum_warps_per_active_cycle_pct": 100 * r.Occupancy,
	} {
		r.Metrics[name] = v
	}
}

// shares sorts named values, largest first.
func shares(values map[string]float64) []Share {
	out := make([]Share, 0, len(values))
	for name, v := range values {
		out = append(out, Share{name, v})
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Value != out[j].Value {
			return out[i].Value > out[j].Value
		}
		return out[i].Name < out[j].Name
	})
	return out
}
