package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/trace"
)

// request is what an access costs: how long its result takes from when the load/store unit
// begins with it, and how long it holds each unit, cycles.
type request struct {
	service
	lockstep         service // the same for a CTA that reads in step with others that read the same
	lsu, idc, texels float32
	l2Slices         float32
	inPort           float32
	outWay           float32
	dram             float32
	atomics          float32
	buffer           resource // hotSlices of what atomics add to
}

// service is how long a request takes.
type service struct {
	latency     float32 // cycles
	fromDRAM    float32 // probability that it waits for DRAM
	inFlight    float32 // expected lines that DRAM delivers
	rowSegments float32 // expected DRAM row segments that these lie in
}

// addDue adds a line of which so many granules are expected from DRAM. fresh reports whether it
// lies in another row segment than the line before.
func (w *service) addDue(granules float64, fresh bool) {
	w.fromDRAM += float32(granules)
	w.inFlight += float32(math.Min(granules, 1))
	if fresh {
		w.rowSegments += float32(math.Min(granules, 1))
	}
}

// addShared adds a line that CTAs in lockstep wait for together, with probability p: DRAM then
// delivers the request's other lines, too.
func (w *service) addShared(p float32, fresh bool) {
	w.fromDRAM = max(w.fromDRAM, p)
	w.inFlight += p
	if fresh && p > 0 {
		w.rowSegments++
	}
}

// addWait lengthens the latency by the expected wait for DRAM: the longest of the waits for the
// request's row segments, times part (cost.LockstepWait), with the probability that DRAM is
// asked.
func (w *service) addWait(m *memory, part float32) {
	if w.inFlight > 0 {
		w.fromDRAM = min(w.fromDRAM, 1)
		longest := part * float32(m.waits.Longest(float64(w.rowSegments)))
		w.latency += w.fromDRAM * max(longest-w.latency, 0)
	}
}

// traffic is the memory traffic of a CTA.
type traffic struct {
	c       *code
	m       *memory
	cluster int // CTAs of a cluster
	plan    *footprint.Plan
	cta     *footprint.CTA
	l1      *l1Lines
	// sharers is how many CTAs of the SM what all CTAs read is fetched once for; stays
	// reports whether most of them find it in L1.
	sharers      float64
	stays        bool
	sharersAlong [footprint.NumAxes]float64      // the CTAs of the SM that read the same, by the axes along which data differs
	held         [][cost.MostSectors + 1]float64 // by load and sectors of a line, how long it holds the slices of L2, relative to a load that is not coalesced
	weight       [][]int64
	// requests[w] are those of warp w's accesses, nil for warps that are not replayed.
	requests [][]request
	total    work
	idle     float64 // loads, stores and atomics that no lane of their warp takes
	byPC     []tally
	// locals are loads and stores of the PTX's local memory.
	locals      [2]tally
	gridBarrier float64               // cost.Machine.GridBarrier, cycles
	places      float64               // of it, sectors that are stored to
	l1Lines     int                   // of the whole SM
	constMiss   [2]float64            // cost.ConstTable.Miss, cycles: lanes in order, and drawn
	writes      []cache.WriteCombiner // by warp
}

// tally counts an instruction's accesses of a CTA, skipped iterations included.
type tally struct {
	requests, sectors, passes, ideal, hits, l2 float64
	partialLines                               float64 // sectors from L2 into lines of which others are not asked for
	again                                      float64 // bytes to and from DRAM that the CTA had touched before
}

// newTraffic decides for every access of a CTA where it is served. The requests of warps marked
// in replayed are kept.
func newTraffic(c *code, m *memory, in *timing.Input, plan *footprint.Plan, cta *footprint.CTA, perSM int64, replayed []bool) *traffic {
	t := &traffic{c: c, m: m, cluster: in.Cluster, plan: plan, cta: cta, sharers: float64(perSM), stays: perSM > int64(in.CTAsPerSM)}
	t.gridBarrier = c.f.GridBarrier(float64(in.Together()))
	resident := min(int64(in.CTAsPerSM), perSM)
	if plan.Passing {
		t.sharers, t.stays = float64(resident), false
	}
	t.sharersAlong = sharersAlong(in, plan, resident, perSM)
	t.held = make([][cost.MostSectors + 1]float64, len(plan.LockstepSharers))
	for pc, readers := range plan.LockstepSharers {
		t.held[pc] = c.f.LoadHeld(readers)
		if cost.Copies(&c.p.Kernel.Instrs[pc]) {
			t.held[pc] = c.f.CopyHeld(plan.Readers[pc], plan.Merged[pc], plan.Together[pc])
		}
	}
	t.byPC = make([]tally, len(c.class))
	t.requests = make([][]request, len(cta.Warps))
	t.weight = cta.Weight
	t.writes = make([]cache.WriteCombiner, len(cta.Warps))
	loads, stores, table := 0, footprint.LocalStores{}, cost.ConstTable{}
	for i := range cta.Warps {
		w := &cta.Warps[i]
		t.writes[i] = cache.NewWriteCombiner(cache.OpenLines / max(in.Arch.SubPartitions, 1))
		if replayed[i] {
			t.requests[i] = make([]request, len(w.Accesses))
		}
		loads += len(w.Lines)
		t.count(w, t.weight[i])
		stores.Count(c.p, w, t.weight[i])
		table.Add(w)
	}
	t.places = float64(stores.Places)
	t.constMiss[0], t.constMiss[1] = table.Miss(c.p.Kernel)
	t.l1Lines = in.L1Bytes / 128
	t.l1 = newL1Lines(max(in.L1Bytes/128/int(resident), 1), min(loads, 1<<14))
	t.inTurn()
	t.total.busy[lsu] += math.Max(t.idle, 0) * c.f.Addressing
	return t
}

// inTurn visits the accesses of the CTA's warps in turn, one of each warp at a time, as warps
// make them that issue in turns.
func (t *traffic) inTurn() {
	at := make([]int, len(t.cta.Warps)) // step of each warp
	for k, going := 0, true; going; k++ {
		going = false
		for i := range t.cta.Warps {
			w := &t.cta.Warps[i]
			if k >= len(w.Accesses) {
				continue
			}
			going = true
			for at[i]+1 < len(w.Steps) && w.Steps[at[i]+1].Access <= int32(k) {
				at[i]++
				if t.plan.Displacing {
					t.touchLeftOut(w, at[i])
				}
			}
			t.turn(i, w, k, at[i])
		}
	}
}

// touchLeftOut gives room in L1 to what the loop iterations left out at a step of a warp touch.
func (t *traffic) touchLeftOut(w *trace.Warp, step int) {
	if o, ok := coalesce.LeftOutAt(w, int32(step)); ok {
		o.Touch(w, int64(t.l1.most()), t.keeps, func(_ *trace.Access, line uint64) { t.l1.load(line, true) })
	}
}

// keeps reports whether L1 keeps what an access reads.
func (t *traffic) keeps(a *trace.Access) bool {
	in := &t.c.p.Kernel.Instrs[a.PC]
	return a.Space == ir.Global && in.Op != ir.St && in.Op != ir.Sust && in.Op != ir.Atom && in.Op != ir.Red && !cost.BypassesL1(in)
}

// sharersAlong is, for data that differs along some axes of the grid only, how many CTAs of an
// SM read the same at a time; by axes, 0 where no instruction's data does.
func sharersAlong(in *timing.Input, plan *footprint.Plan, resident, perSM int64) (n [footprint.NumAxes]float64) {
	where := footprint.NewPlacement(in, resident)
	for _, along := range plan.DistinctAlong {
		if along != 0 && n[along] == 0 {
			n[along] = where.Sharers(along, perSM)
		}
	}
	return n
}

// add adds n times what another CTA asks for.
func (t *traffic) add(o *traffic, n float64) {
	t.total.add(&o.total, n)
	for pc := range t.byPC {
		t.byPC[pc].add(&o.byPC[pc], n)
	}
	t.locals[0].add(&o.locals[0], n)
	t.locals[1].add(&o.locals[1], n)
	t.places += n * o.places
	t.l1Lines = o.l1Lines
}

// count adds the static work of a warp's steps.
func (t *traffic) count(w *trace.Warp, weight []int64) {
	for i, n := range weight {
		if b := w.Steps[i].Block; n > 0 && t.c.root[b] == b {
			for k := t.c.section[b]; k < t.c.section[b+1]; k++ {
				t.total.add(&t.c.static[k], float64(n))
			}
			t.idle += float64(n) * float64(t.c.requests[b])
		}
	}
}

// turn is one access of a warp and what it comes to.
type turn struct {
	w          *trace.Warp
	a          *trace.Access
	class      assemble.Class
	first      []uint8 // first touches of the warp's lines
	round      int32   // the step of the warp that it belongs to
	n          float64 // how often it is made, skipped iterations counted
	one        work    // of the SM's units, made once
	rowSegment uint64  // of DRAM, that the line before lay in
	r          request
	y          *tally
	// writes is what the warp's stores may join: each of the warps that issue side by
	// side, one a sub-partition, has its share of the open lines.
	writes *cache.WriteCombiner
}

// turn accounts for access k of a warp, made in its step at.
func (t *traffic) turn(warp int, w *trace.Warp, k, at int) {
	a := &w.Accesses[k]
	if t.c.p.IsJoined(a.PC) {
		return // the machine makes none
	}
	u := turn{
		w: w, a: a, class: t.c.class[a.PC], first: t.cta.First[warp], round: int32(at),
		n: float64(t.weight[warp][at]), y: &t.byPC[a.PC], writes: &t.writes[warp],
	}
	if isRequest(u.class) && a.Space != ir.Const && a.Space != ir.ParamSpace {
		t.idle -= u.n
	}
	t.access(&u)
	one := &u.one
	for r := lsu; r < numResources; r++ {
		t.total.busy[r] += u.n * one.busy[r]
		t.total.blocking[r] += u.n * one.blocking[r]
	}
	if q := t.requests[warp]; q != nil {
		u.r.lsu, u.r.idc = float32(one.busy[lsu]), float32(one.busy[idc])
		u.r.texels = float32(one.busy[texels])
		u.r.l2Slices, u.r.inPort = float32(one.busy[l2Slices]), float32(one.busy[inPort])
		u.r.outWay, u.r.dram = float32(one.busy[outWay]), float32(one.busy[dramBus])
		u.r.buffer = t.hot(a.PC)
		u.r.atomics = float32(one.busy[u.r.buffer])
		u.r.lockstep.latency = max(u.r.lockstep.latency, u.r.latency)
		q[k] = u.r
	}
}

func (t *traffic) access(u *turn) {
	f, a := t.c.f, u.a
	passes := float64(max(a.Passes, 1))
	switch a.Space {
	case ir.SharedCluster:
		remote := f.RemoteShared(u.class, a, t.cluster)
		u.r.latency = float32(f.ClusterLoad + remote)
		u.one.busy[lsu] = math.Max(math.Max(passes*f.SharedPass, f.Addressing), remote)
	case ir.Shared:
		if u.class == assemble.AsyncCopy {
			return // its global side is accounted for
		}
		u.r.latency = float32(f.Shared)
		if u.class == assemble.Atomic {
			u.r.latency = float32(f.AtomicShared)
			switch {
			case t.c.p.IsSwapped(a.PC):
				t.casLoop(u)
				return
			case !t.c.p.IsCounted(a.PC):
				passes = float64(max(a.Turns, 1))
			}
		}
		u.r.latency += float32((passes - 1) * f.SharedPass)
		u.one.busy[lsu] = math.Max(passes*f.SharedPass, f.Addressing)
	case ir.Const, ir.ParamSpace:
		hold := passes * f.ConstantPass
		if a.Passes > 1 && a.Space == ir.Const {
			miss := t.constMiss[0]
			if a.Drawn {
				miss = t.constMiss[1]
			}
			hold += float64(a.Visits) * miss
		}
		u.r.latency = float32(f.Constant + hold - f.ConstantPass)
		u.one.busy[idc] = hold + t.c.table[a.PC]
		u.one.blocking[idc] = u.one.busy[idc]
	default:
		if a.Space == ir.Local {
			u.y = &t.locals[direction(u.class)]
		}
		if u.class == assemble.Bulk {
			t.bulk(u)
			break
		}
		if a.Texels > 0 {
			hold, latency := f.Texture(a)
			u.one.busy[texels], u.r.latency = hold, float32(latency)
		} else {
			u.one.busy[lsu] = f.Request(u.class, t.bypassesL1(a.PC), int64(max(a.NLines, 1)), int64(a.Passes))
			u.r.latency = float32(f.L1)
		}
		t.lines(u)
		if t.c.specific && u.class == assemble.AsyncCopy {
			clear(u.one.blocking[l2Slices:]) // what waits for it waits for its group
		}
	}
	if u.class != assemble.Store {
		u.one.blocking[lsu], u.one.blocking[texels] = u.one.busy[lsu], u.one.busy[texels]
	}
	if a.Texels > 0 {
		u.y.requests, u.y.sectors = u.y.requests+u.n, u.y.sectors+u.n*float64(a.Sectors)
		return
	}
	u.y.requests += u.n
	u.y.sectors += u.n * float64(a.Sectors)
	u.y.passes += u.n * float64(max(a.Wavefronts, a.Passes))
	u.y.ideal += u.n * float64(a.Ideal)
}

// casLoop is a floating-point atomic on shared memory (cost.CASLoop). Both its load and its
// swap are waited for: each has half of the latency.
func (t *traffic) casLoop(u *turn) {
	f, loop := t.c.f, cost.CASLoopOf(&t.c.p.Kernel.Instrs[u.a.PC], u.a)
	u.r.latency = float32(f.Shared+f.AtomicShared+float64(loop.Rounds)*f.CASRound+float64(loop.Waits)) / 2
	u.one.busy[lsu] = (float64(max(u.a.Passes, 1)) + float64(loop.Passes)) * f.SharedPass
	u.one.blocking[lsu] = u.one.busy[lsu]
	u.y.passes += u.n * float64(int64(max(u.a.Passes, 1))+loop.Passes)
	t.total.issued += u.n * float64(loop.Issued)
	t.total.busy[issueSlot] += u.n * float64(loop.Issued)
}

// direction is 1 for stores and 0 for loads.
func direction(c assemble.Class) int {
	if c == assemble.Store {
		return 1
	}
	return 0
}
