package analytic

import (
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/pending"
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
	words     map[uint32]*mbarrier
	cluster   mbarrier
	loaded    float64 // of what has arrived at the cluster's barrier, as inFlight.loaded
	named     map[int]*mbarrier
	alive     float64
	engine    float64 // when the engine of bulk copies is free
	exchange  map[uint32]cost.Exchange
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
	byWord   bool      // that stands for a wait by a word of shared memory
	phase    int64
	extra    float64 // cycles of iterations left out
	ended    bool
	products pending.Groups[float64]
	stored   pending.Groups[float64]
	read     pending.Groups[float64]
	asyncLo  int32
	asyncHi  int32
	arrivals map[int32]*[]float64 // times of the arrivals at heads of loops
	reached  int64                // phases of the cluster's barrier at the last arrival there
}

// mbarrier is one in shared memory. Of a barrier of warps Pending is how many have arrived.
type mbarrier = pending.Mbarrier[float64]

// playRoles replays the kinds of a CTA's warps together.
func playRoles(t *traffic, ks []kind, lockstep bool) alone {
	r := &roles{c: t.c, exchange: cost.Exchanges(t.c.p.Kernel, t.cta.CTA, t.cluster), players: make([]player, len(ks)), number: map[uint32]int{}, named: map[int]*mbarrier{}}
	for i := range ks {
		p := &r.players[i]
		p.scoreboard = scoreboard{c: t.c, lockstep: lockstep, beside: math.Max(ks[i].count/float64(t.c.f.Schedulers), 1), recorded: recorded{tr: &t.cta.Warps[ks[i].warp], reqs: t.requests[ks[i].warp]}}
		p.queue = &r.queue
		p.roles, p.count, p.index, p.block = r, ks[i].count, ks[i].warp, -1
		p.arrivals = map[int32]*[]float64{}
		r.alive += p.count
		r.expectWrites(p.tr)
	}
	for going := true; going; {
		if p := r.first(); p != nil {
			p.run()
		} else {
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

// first is the player that is behind the others, of those that can go on; nil: there is none. What they all take turns
// at, such as the engine of bulk copies, must see them in the order of time.
func (r *roles) first() (first *player) {
	for i := range r.players {
		if p := &r.players[i]; p.runnable() && (first == nil || p.now < first.now) {
			first = p
		}
	}
	return first
}

// unstick ends the phase that a player waits for which nothing in the replay ends.
func (r *roles) unstick() bool {
	for i := range r.players {
		if p := &r.players[i]; !p.ended && p.held != nil {
			p.held.Last = math.Max(p.held.Last, p.now)
			p.held.End()
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
	return !p.ended && (p.held == nil || p.held.Phases != p.phase)
}

// run replays a warp until it waits for another, or has waited, or to its end.
func (p *player) run() {
	if b := p.held; b != nil {
		p.held = nil
		p.now = math.Max(p.now, b.Done+p.wake(b))
		p.byWord = false
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
			if p.play(in); p.held != nil || in.Class == assemble.MbarWait {
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
	if p.byWord {
		return p.c.f.WordWake - p.extra
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
		if b.Pending > 0 && b.Pending >= r.alive {
			b.Last = math.Max(b.Last, now)
			b.End()
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
		if p.c.words && in.Source >= 0 {
			p.word(in.Source)
		}
	}
}
