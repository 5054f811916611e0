package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/trace"
)

// Kernels that use the asynchronous units have warps of different roles, which wait for each other and for copies at
// mbarriers. Their kinds are replayed together: each runs until it waits for what another has not done yet. What each
// waits for is known to the cycle then, but for queues: of these the network of queues tells.

// roles is the kinds of warps of a CTA under way.
type roles struct {
	c         *code
	players   []player
	mbarriers []mbarrier
	number    map[uint32]int // mbarriers by address
	cluster   mbarrier
	named     map[int]*mbarrier
	alive     float64
	engine    float64 // when the engine of bulk copies is free
	queue     queue
}

// player is a kind of warp that is replayed, and where it is: before instruction at of a block.
type player struct {
	scoreboard
	roles    *roles
	index    int // of its warp in the CTA
	next     int // step
	block    int32
	at       int
	held     *mbarrier // what it waits for, until phase phases
	phase    int64
	extra    float64 // cycles of iterations left out
	ended    bool
	products group
	stored   group
	read     group
	asyncLo  int32
	asyncHi  int32
	arrivals map[int32]*[]float64 // times of the arrivals at heads of loops
	reached  int64                // phases of the cluster's barrier at the last arrival there
}

// group is groups of asynchronous operations; see clock.
type group struct {
	done      [cost.MaxGroups]float64
	committed int
	open      float64
}

func (g *group) add(at float64) { g.open = math.Max(g.open, at) }

func (g *group) commit() {
	g.done[g.committed%cost.MaxGroups] = g.open
	g.committed++
}

func (g *group) until(pending int) (at float64) {
	for k := max(g.committed-cost.MaxGroups, 0); k < g.committed-pending; k++ {
		at = math.Max(at, g.done[k%cost.MaxGroups])
	}
	return at
}

// mbarrier is the state of one; what comes and when is as in the clock. Of a barrier of warps pending is how many have
// arrived.
type mbarrier struct {
	expected, pending float64 // arrivals
	bytes             float64
	phases            int64
	last, done        float64
}

func (b *mbarrier) arrive(n, at float64) {
	b.pending -= n
	b.last = math.Max(b.last, at)
	b.complete()
}

func (b *mbarrier) complete() {
	if b.pending <= 0 && b.bytes <= 0 {
		b.end()
	}
}

func (b *mbarrier) end() {
	b.phases++
	b.pending, b.bytes = b.expected, 0
	b.done, b.last = math.Max(b.done, b.last), 0
}

// playRoles replays the kinds of a CTA's warps together.
func playRoles(t *traffic, ks []kind, lockstep bool) alone {
	r := &roles{c: t.c, players: make([]player, len(ks)), number: map[uint32]int{}, named: map[int]*mbarrier{}}
	for i := range ks {
		p := &r.players[i]
		p.scoreboard = scoreboard{c: t.c, lockstep: lockstep, beside: math.Max(ks[i].count/float64(t.c.f.Schedulers), 1), recorded: recorded{tr: &t.cta.Warps[ks[i].warp], reqs: t.requests[ks[i].warp]}}
		p.queue = &r.queue
		p.roles, p.count, p.index, p.block = r, ks[i].count, ks[i].warp, -1
		p.arrivals = map[int32]*[]float64{}
		r.alive += p.count
	}
	for going := true; going; {
		going = false
		for i := range r.players {
			if p := &r.players[i]; p.runnable() {
				p.run()
				going = true
			}
		}
		if !going {
			going = r.unstick()
		}
	}
	for i := range r.players {
		p := &r.players[i]
		p.endStage()
		p.cur.time = p.now + p.extra
		ks[i].phases = []phase{{p.cur, 1}}
	}
	conserve(ks, &t.total)
	return r.together(t, ks)
}

// together is how long the CTA takes: as long as the last of its warps, or as what keeps a unit busy for longer, and
// what its warps wait for each other at the units of the SM.
func (r *roles) together(t *traffic, ks []kind) (a alone) {
	var last work
	warps := 0.0
	for i := range ks {
		h := &ks[i].phases[0]
		warps += ks[i].count
		a.staged += ks[i].count * h.staged
		if h.time >= last.time {
			last = h.work
		}
	}
	a.waits, a.fromL2 = last.waits, last.fromL2
	a.contended = last.contended + math.Log(warps)*math.Sqrt(last.fromDRAM)
	a.time = last.time
	subs := math.Min(float64(t.c.f.Schedulers), warps)
	for u := range resource(numResources) {
		busy := t.total.busy[u]
		switch {
		case u.ofSub():
			busy /= subs
		case u.shared():
			busy /= t.m.burst
		}
		a.time = math.Max(a.time, busy)
	}
	least := a.time
	at := func(now float64) float64 {
		end := least
		for u := lsu; u < numResources; u++ {
			one := t.total.blocking[u] / warps
			if u.shared() {
				one /= t.m.burst
			}
			end += one * wait(t.total.busy[u]/now, warps)
		}
		return end
	}
	low, high := least, least
	for at(high) > high {
		low, high = high, 2*high
	}
	for high-low > least/256 {
		if now := (low + high) / 2; at(now) > now {
			low = now
		} else {
			high = now
		}
	}
	a.time = high
	return a
}

// unstick ends the phase that a player waits for which nothing in the replay ends.
func (r *roles) unstick() bool {
	for i := range r.players {
		if p := &r.players[i]; !p.ended && p.held != nil {
			p.held.last = math.Max(p.held.last, p.now)
			p.held.end()
			return true
		}
	}
	return false
}

func (r *roles) mbarrier(at uint32) *mbarrier {
	n, ok := r.number[at]
	if !ok {
		n = len(r.mbarriers)
		if cap(r.mbarriers) == 0 {
			r.mbarriers = make([]mbarrier, 0, mostMbarriers)
		}
		if n == mostMbarriers {
			return &r.mbarriers[n-1]
		}
		r.number[at] = n
		r.mbarriers = append(r.mbarriers, mbarrier{})
	}
	return &r.mbarriers[n]
}

// mostMbarriers bounds the mbarriers that are told apart.
const mostMbarriers = 256

// runnable reports whether a player can go on.
func (p *player) runnable() bool {
	return !p.ended && (p.held == nil || p.held.phases != p.phase)
}

// run replays a warp until it waits for another, or to its end.
func (p *player) run() {
	if b := p.held; b != nil {
		p.held = nil
		p.now = math.Max(p.now, b.done+p.wake(b))
		p.awaited()
	}
	for {
		if p.block < 0 && !p.step() {
			p.ended = true
			p.roles.exit(p.count, p.now)
			return
		}
		code := p.c.p.Blocks[p.block].Instrs
		for p.at < len(code) {
			in := &code[p.at]
			p.at++
			if in.Class == assemble.WgmmaPart {
				continue
			}
			if p.play(in); p.held != nil {
				return
			}
		}
		p.block = -1
	}
}

// wake is what a warp takes to go on after a phase of a barrier.
func (p *player) wake(b *mbarrier) float64 {
	if b == &p.roles.cluster {
		return 0
	}
	for i := range p.roles.mbarriers {
		if b == &p.roles.mbarriers[i] {
			return p.c.f.Wake
		}
	}
	return p.c.f.Barrier
}

// step goes on to the next step that has machine code. False: there is none.
func (p *player) step() bool {
	for p.next < len(p.tr.Steps) {
		step := p.next
		p.next++
		k := &p.tr.Steps[step]
		if k.Repeat > 0 {
			p.leaveOut(k)
			continue
		}
		p.arriveAt(k.Block)
		b := p.c.root[k.Block]
		if b != k.Block {
			continue // ran with its carrier
		}
		p.accLo, p.asyncLo = k.Access, k.Async
		for p.next < len(p.tr.Steps) && p.tr.Steps[p.next].Repeat == 0 && p.tr.Steps[p.next].Block != b && p.c.root[p.tr.Steps[p.next].Block] == b {
			p.next++
		}
		p.accHi, p.asyncHi = int32(len(p.tr.Accesses)), int32(len(p.tr.Asyncs))
		if p.next < len(p.tr.Steps) {
			p.accHi, p.asyncHi = p.tr.Steps[p.next].Access, p.tr.Steps[p.next].Async
		}
		p.accHi = max(p.accHi, coalesce.HeldEnd(p.tr, p.c.root, p.next, p.c.p.Blocks[b].Holds))
		p.accCur = p.accLo
		p.block, p.at = b, 0
		for k := p.c.section[b]; k < p.c.section[b+1]; k++ {
			p.cur.add(&p.c.static[k], 1)
		}
		return true
	}
	return false
}

// arriveAt notes when an iteration begins.
func (p *player) arriveAt(block int32) {
	if !p.c.heads[block] {
		return
	}
	p.arrive(block)
	times := p.arrivals[block]
	if times == nil {
		times = new([]float64)
		p.arrivals[block] = times
	}
	*times = append(*times, p.now+p.extra)
}

// leaveOut charges k.Repeat iterations, each as long as those of the last period in the mean.
func (p *player) leaveOut(k *trace.Step) {
	n := float64(k.Repeat)
	for i := range p.heads {
		if h := &p.heads[i]; h.block == k.Block {
			last := p.cur
			last.add(&h.cur, -1)
			p.cur.add(&last, n)
		}
	}
	times := p.arrivals[k.Block]
	if times == nil || len(*times) == 0 {
		return
	}
	period := min(max(int(k.Period), 1), len(*times))
	p.extra += n * (p.now + p.extra - (*times)[len(*times)-period]) / float64(period)
}

// exit takes warps out of those that barriers wait for.
func (r *roles) exit(count, now float64) {
	r.alive -= count
	for _, b := range r.named {
		if b.pending > 0 && b.pending >= r.alive {
			b.last = math.Max(b.last, now)
			b.end()
		}
	}
}

// play issues an instruction. Where the warp then waits for others p.held is set.
func (p *player) play(in *assemble.Instr) {
	switch {
	case in.Class == assemble.Barrier:
		p.issue(in)
		p.meet(in)
	case cost.IsAsync(in.Class) && in.Source >= 0:
		p.async(in)
	case (in.Class == assemble.Control || in.Class == assemble.Fence) && in.Source >= 0 && p.control(in):
	default:
		p.issue(in)
	}
}

// meet is a barrier of the CTA or of a part of it; see the clock's meetNamed.
func (p *player) meet(in *assemble.Instr) {
	r := p.roles
	key, warps := 0, r.alive
	arrives := false
	if in.Source >= 0 {
		k := &p.c.p.Kernel.Instrs[in.Source]
		arrives = k.Mod&ir.ModArrive != 0
		if len(k.Src) > 1 && k.Src[1].Kind == ir.OperandImm {
			warps = math.Min(float64(k.Src[1].Imm/32), r.alive)
		}
		switch {
		case len(k.Src) > 0 && k.Src[0].Kind == ir.OperandImm:
			key = int(k.Src[0].Imm & 15)
		case len(k.Src) > 0:
			key = 16 + p.index/max(int(warps), 1)
		}
	}
	b := r.named[key]
	if b == nil {
		b = &mbarrier{}
		r.named[key] = b
	}
	p.phase = b.phases
	b.pending += p.count
	b.last = math.Max(b.last, p.now)
	if b.pending >= warps {
		b.end()
	}
	switch {
	case arrives:
	case b.phases == p.phase:
		p.held = b
	default:
		p.now = math.Max(p.now, b.done) + p.c.f.Barrier + p.c.f.BarrierWarp*warps
	}
}

// async issues an instruction of the asynchronous units.
func (p *player) async(in *assemble.Instr) {
	k := &p.c.p.Kernel.Instrs[in.Source]
	switch in.Class {
	case assemble.Wgmma:
		p.product(in, k)
	case assemble.Bulk:
		p.issue(in)
		p.bulk(in.Source, k)
	case assemble.Mbarrier:
		p.issue(in)
		p.atMbarrier(in.Source, k)
	case assemble.MbarWait:
		p.issue(in)
		p.wait(in.Source)
	case assemble.ClusterBarrier:
		p.issue(in)
		p.atCluster(k)
	}
}

// product starts a product of the warpgroup as soon as it finds a place in the queue of the tensor core.
func (p *player) product(in *assemble.Instr, k *ir.Instr) {
	w := p.c.f.Wgmma(k)
	port := &p.ports[p.c.f.Classes[in.Class].Port]
	at, _ := p.ready(in)
	at = math.Max(at, *port-cost.QueuedProducts*w.Hold)
	start := math.Max(at, *port)
	*port = start + w.Hold*p.beside
	p.now = at + p.c.f.Slots(in)
	p.products.add(start + w.Latency)
}

// control is what waits for groups; see the clock's asyncControl.
func (p *player) control(in *assemble.Instr) bool {
	k := &p.c.p.Kernel.Instrs[in.Source]
	pending := 0
	if len(k.Src) > 0 && k.Src[0].Kind == ir.OperandImm {
		pending = int(min(k.Src[0].Imm, cost.MaxGroups))
	}
	at := 0.0
	switch k.Op {
	case ir.WgmmaCommit:
		p.products.commit()
	case ir.WgmmaWait:
		at = p.products.until(pending)
	case ir.BulkCommit:
		p.stored.commit()
		p.read.commit()
	case ir.BulkWait:
		if k.Mod&ir.ModRead != 0 {
			at = p.read.until(pending)
		} else {
			at = p.stored.until(pending)
		}
	case ir.WgmmaFence:
	case ir.Setmaxnreg:
		at = p.now + p.c.f.Setmaxnreg
	case ir.FenceProxy:
		at = p.now + p.c.f.FenceProxy
	default:
		return false
	}
	p.issueAlone(in)
	switch k.Op {
	case ir.WgmmaWait, ir.BulkWait:
		p.cur.waits++
	}
	p.now = math.Max(p.now, at)
	return true
}

// awaited counts a wait for others, whether it takes time or not: what comes to the units of the memory system comes in
// so many rounds.
func (p *player) awaited() {
	p.cur.waits++
	p.cur.fromL2++
	p.endStage()
}

// issueAlone takes an issue slot and nothing else.
func (p *player) issueAlone(in *assemble.Instr) {
	at, _ := p.ready(in)
	p.now = at + p.c.f.Slots(in)
}

func (p *player) bulk(source int32, k *ir.Instr) {
	f, r := p.c.f, p.roles
	from, n, issue := p.accLo, 0, f.BulkIssue
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source {
			continue
		}
		n++
		var q *request
		var bytes float64
		for ; from < p.accHi && q == nil; from++ {
			if x := &p.tr.Accesses[from]; x.PC == source {
				q, bytes = &p.reqs[from], 32*float64(x.Sectors)
			}
		}
		begin := math.Max(p.now, r.engine)
		latency := f.ClusterLoad
		if q == nil {
			bytes = float64(a.Bytes)
		} else {
			p.send(q)
			latency = float64(q.latency)
			if p.lockstep {
				latency = float64(q.lockstep.latency)
			}
		}
		if k.Bulk != nil && k.Bulk.To == ir.Global && k.Bulk.From != ir.Global {
			issue = f.BulkStoreIssue
			taken := p.now + bytes*f.StoreByte
			p.read.add(taken)
			p.stored.add(taken + f.BulkStored)
			continue
		}
		if q != nil {
			latency += r.queue.wait(p.c.spill.m, q, begin, p.count)
		}
		r.engine = begin + bytes/32*f.BulkSector
		at := r.engine + latency + f.BulkExtra
		if a.Barrier != trace.NoBarrier {
			b := r.mbarrier(a.Barrier)
			b.bytes -= float64(cost.Delivered(a.Bytes, a.To))
			b.last = math.Max(b.last, at)
			b.complete()
		} else {
			p.read.add(at)
			p.stored.add(at)
		}
	}
	if n > 0 {
		p.now += math.Max(float64(n)*issue-1, 0)
	}
}

// send adds what a request asks of the memory system to what the warp does.
func (p *player) send(q *request) {
	for i, b := range [...]float32{q.l2Slices, q.inPort, q.outWay, q.dram} {
		p.stage[i] += float64(b)
		p.cur.busy[l2Slices+resource(i)] += float64(b)
	}
	p.flight += float64(q.inFlight)
}

func (p *player) atMbarrier(source int32, k *ir.Instr) {
	f, n := p.c.f, 0
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source || a.Barrier == trace.NoBarrier {
			continue
		}
		n++
		b := p.roles.mbarrier(a.Barrier)
		at := p.now + f.Arrive
		if a.CTA >= 0 {
			at = p.now + f.Remote
		}
		arrivals := float64(cost.Arrivals(a.Lanes, a.Count)) * p.count
		switch k.Op {
		case ir.MbarInit:
			*b = mbarrier{expected: float64(a.Count), pending: float64(a.Count), done: p.now}
			continue
		case ir.MbarInval:
			continue
		case ir.MbarExpect:
			if k.Mod&ir.ModDone != 0 {
				b.bytes -= float64(a.Bytes) * p.count
			} else {
				b.bytes += float64(a.Bytes) * p.count
			}
			b.arrive(0, p.now)
		case ir.CpAsyncArrive:
			if k.Mod&ir.ModAll == 0 {
				arrivals = 0
			}
			b.arrive(arrivals, math.Max(p.now, p.open)+f.Arrive)
		default:
			b.bytes += float64(a.Bytes) * p.count
			if k.Mod&ir.ModDrop != 0 {
				b.expected -= arrivals
			}
			b.arrive(arrivals, at)
		}
	}
	if n > 0 {
		p.now += math.Max(f.Arrival-1, 0)
	}
}

// wait is a wait for a phase of an mbarrier.
func (p *player) wait(source int32) {
	f, n := p.c.f, 0
	at := p.now
	for i := p.asyncLo; i < p.asyncHi; i++ {
		a := &p.tr.Asyncs[i]
		if a.PC != source || a.Barrier == trace.NoBarrier {
			continue
		}
		n++
		b := p.roles.mbarrier(a.Barrier)
		if b.phases&1 == int64(a.Parity) {
			p.held, p.phase = b, b.phases
			return
		}
		if b.done > p.now {
			at = math.Max(at, b.done+f.Wake)
		}
	}
	if n > 0 {
		p.awaited()
		p.now = math.Max(p.now+math.Max(f.Wait-1, 0), at)
	}
}

// atCluster is the barrier of the cluster, whose other CTAs do as this one.
func (p *player) atCluster(k *ir.Instr) {
	b := &p.roles.cluster
	if k.Mod&ir.ModArrive != 0 {
		p.reached = b.phases
		b.pending += p.count
		if k.Mod&ir.ModRelaxed == 0 {
			if p.sent > 0 {
				p.now = math.Max(p.now, p.sent+p.c.spill.m.near)
			}
			p.now += math.Max(p.c.f.ClusterRelease-p.c.f.ClusterBarrier, 0)
			p.awaited()
		}
		b.last = math.Max(b.last, p.now+p.c.f.ClusterBarrier)
		if b.pending >= p.roles.alive {
			b.expected = 0
			b.end()
		}
		return
	}
	if b.phases == p.reached {
		p.held, p.phase = b, b.phases
		return
	}
	p.now = math.Max(p.now, b.done)
	p.awaited()
}
