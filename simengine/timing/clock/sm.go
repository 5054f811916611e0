package clock

import (
	"fmt"
	"math"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cache"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
	"github.com/warptune/warptune/simengine/timing/footprint"
	"github.com/warptune/warptune/simengine/timing/pending"
	"github.com/warptune/warptune/simengine/trace"
)

// never is later than any cycle.
const never = math.MaxInt64

// warp is the state of a resident warp. What the scheduler needs of it (when it can issue
// next, and on what port) is in its sub-partition's slot.
type warp struct {
	cta    int32 // slot of its CTA
	sub    int32 // sub-partition
	slot   int32 // of the sub-partition
	index  int32 // in its CTA
	row    int32 // first column of the scoreboard
	issued int64 // cycle of the last issue, from where stalls are counted
	// holds is the cycle at which the issue slot that the last instruction held is free, portHeld the same of its port.
	holds, portHeld int64
	port            port
	replay
	slowPathCall
	copies pending.Groups[int64] // cp.async, cycles of arrival
	warpAsync
	addresses
	loops   loopClock
	waiting bool                      // at a barrier
	resume  int64                     // cycle at which the scoreboard would let it go on after the barrier
	sent    int64                     // cycle at which L2 has taken its last store
	recent  *[cost.RecentIssues]int64 // cycles at which the last ops were issued, by op; nil: the program has no cost.Leads
}

// replay is where a warp is in its trace.
type replay struct {
	tr     *trace.Warp
	first  []uint8 // footprint.CTA.First of the warp
	weight []int64 // footprint.CTA.Weight of the warp
	// barrierOf is, for each of the trace's asynchronous operations, the mbarrier among its CTA's, -1 none.
	barrierOf []int16
	step      int32 // current step
	next      int32 // step after the blocks merged into the current one
	pc        int32 // next op
	end       int32 // end of the block's ops
	// Accesses accLo to accHi of the trace are those of the step and of what was merged into
	// it; accCur is the one after the last found.
	accLo, accHi, accCur int32
}

// slowPathCall is the slow path that a warp is in.
type slowPathCall struct {
	slowPath      int32 // which one
	paths         uint8 // paths of it still to take, as bits
	back, backEnd int32 // op to return to and the end of its block; back is 0 outside of slow paths
	turns         int64 // calls of slow paths executed so far
}

// addresses is what is added to line addresses of the trace, so that replicas of one traced
// CTA differ in what CTAs differ in.
type addresses struct {
	shift    uint64 // data of the CTA's own
	round    uint64 // what all CTAs read, where L1 does not keep it from one wave to the next
	local    uint64 // base line of the warp's local memory: spilled registers first
	declared uint64 // lines of a trace that lie in the local memory that the PTX declares
}

// ctaSlot is room for one resident CTA.
type ctaSlot struct {
	launchAt int64 // cycle at which the next CTA starts, never when none is due
	began    int64
	sent     int64 // cycle at which L2 has taken the CTA's last store
	alive    int32 // warps not finished
	arrived  int32 // warps at the barrier
	running  bool
	ctaAsync
	// shift is added to addresses of lines that some CTAs have in common, by the axes
	// along which their data differs.
	shift [footprint.NumAxes]uint64
}

// subPartition is a scheduler with its slots, as parallel arrays by slot: looking for the next
// warp to issue is the clock's inner loop.
type subPartition struct {
	slots
	eligibility
	product int64                // when the tensor core is free for a warpgroup MMA, steps
	began   int64                // when the memory system began with the last request
	slows   bool                 // the last one slows other instructions
	reads   productReads         // of those that wait
	free    [cost.NumPipes]int64 // step at which each pipe is free
	mio     ring                 // cycles at which the MIO queue's entries left it
	lg      ring                 // the same for global and local memory
	wake    int64                // next cycle at which something may issue
	latest  int                  // slot that issued last, -1 for none
	open    int64                // step at which the issue slot is free
	// Slots of the scheduler after cycle visited are unused because of reason.
	visited int64
	reason  timing.StallReason
}

// slots is the warps of a scheduler, by slot.
type slots struct {
	warp  []int32
	ready []int64 // earliest cycle by scoreboard and fetch
	why   []timing.StallReason
	port  []port  // of the next op
	since []int64 // cycles that the port had been busy when the slot became eligible
	rank  []int64 // the lowest goes first: the cycle of launch or, where iterations are left out, of the last issue
}

// eligibility is which slots may issue: a slot is eligible once its ready cycle has come.
type eligibility struct {
	could   uint64           // set of eligible slots
	due     [numPorts]uint64 // the same by port
	pending []wakeup         // of the slots that will be, the first to come last
	parked  int              // slots whose warps wait at a barrier
	// busy is for how many cycles each port was busy, until the cycle covered; of these the last are from opened on.
	busy, opened, covered [numPorts]int64
	taken                 [numPorts]int32 // slot that issued to each port last
}

// sm is one clocked SM. Times are cycles.
type sm struct {
	m     *cost.Machine
	c     *code
	in    *timing.Input
	set   *sampleSet
	now   int64
	subs  []subPartition
	warps []warp
	ctas  []ctaSlot
	score []int64 // scoreboard: cycle<<2 | resultKind, by warp and column
	reads []int64 // by warp and column: until when copies read it; nil where there are none
	units
	dramShares
	launcher
	stats   stats
	profile profile
}

// units is what the warps of an SM share.
type units struct {
	l1      *cache.L1
	mem     *dram.Share // this SM's share of L2 and DRAM
	lsu     dram.Server // load/store unit
	copied  dram.Server // lines of copies past L1, one after the other
	texture dram.Server // texture unit
	idc     dram.Server // indexed constant cache, that of the sub-partitions included
	barrier dram.Server
	copies  dram.Server // the engine of bulk copies
	network dram.Server // to and from other CTAs' shared memory
	// loads and stores are when the outstanding sectors of loads arrive and when L2 has taken
	// the outstanding lines of stores.
	loads, stores ring
	writes        cache.WriteCombiner
	atomics       cost.AtomicCost
	gridBarrier   int64 // cost.Machine.GridBarrier, cycles
	sharing       sharing
	asked         cache.InFlight
}

// launcher starts CTAs on the SM.
type launcher struct {
	before       int64 // CTAs that the SM has run before the first one clocked
	first        int64 // the sample that the first CTA is a replica of
	target       int64 // CTAs to run
	launched     int64
	nextLaunch   int64   // earliest launchAt of the slots
	pace         float64 // cycle of the next launch that the device allows
	interval     float64 // between two launches on this SM
	releaseTimes float64 // cost.ReleaseTimes
	apart        int64   // cost.ClusterApart
	stagger      bool    // launches keep the device's pace from the start
	vacancy      int64   // cycles from a CTA's last exit to its slot issuing again
	done         []int64 // cycles at which CTAs ended, in order
}

// ring remembers the last n times something was done with one of n entries.
type ring struct {
	at   []int64
	head int
}

func newRing(n int) ring { return ring{at: make([]int64, n)} }

// free is the first cycle at which an entry is free.
func (r *ring) free() int64 { return r.at[r.head] }

// take occupies the entry that is free first, until cycle until.
func (r *ring) take(until int64) {
	r.at[r.head] = until
	if r.head++; r.head == len(r.at) {
		r.head = 0
	}
}

// stats is what one clocked run counted.
type stats struct {
	issued                      int64
	slots                       [timing.NumStallReasons]int64 // unused scheduler slots by reason
	warpTime                    [timing.NumStallReasons]int64 // warp cycles stalled by reason, skipped iterations counted in
	active                      int64                         // warp cycles resident
	cycles                      int64
	pipeBusy                    [cost.NumPipes]int64
	classes                     [assemble.NumClasses]int64
	byPC                        []pcStats
	local                       [2]pcStats // local memory and spills: loads, stores
	loop                        loopStats
	spillSectors, spillRequests [2]int64 // loads, stores
	localDRAM                   [2]int64 // granules of local memory from and to DRAM
}

// newSM makes an idle SM, one of active.
func newSM(m *cost.Machine, c *code, in *timing.Input, p *sampleSet, active float64) *sm {
	resident, perCTA := in.CTAsPerSM, in.WarpsPerCTA
	n := resident * perCTA
	s := &sm{m: m, c: c, in: in, set: p, units: units{l1: cache.New(in.L1Bytes)}}
	s.warps = make([]warp, n)
	s.ctas = make([]ctaSlot, resident)
	s.score = make([]int64, n*c.stride)
	if c.copies {
		s.reads = make([]int64, n*c.stride)
	}
	s.loads = newRing(max(in.L1Bytes/cache.SectorBytes, cost.MinSectorsInFlight))
	s.stores, s.writes = newRing(cost.StoresInFlight), cache.NewWriteCombiner(cache.OpenLines)
	s.subs = make([]subPartition, m.Schedulers)
	s.stats.byPC = make([]pcStats, c.pcs)
	if in.Profile {
		s.profile = make(profile, len(c.ops))
	}
	perSub := make([]int32, m.Schedulers)
	// Warps' local memory lies side by side, in slots that one CTA takes over from another.
	spillLines, declaredLines := uint64(in.Program.SpillBytes/4), uint64(in.Program.Kernel.LocalBytes+3)/4
	localLines := spillLines + declaredLines + 1
	// Warps go to one sub-partition after another, and those of the next CTA go on from
	// there; where that is where those of this one began, from the next (deploy/calibrate
	// launch.turn).
	turn := perCTA
	if perCTA%m.Schedulers == 0 {
		turn = 1
	}
	for i := range s.warps {
		w := &s.warps[i]
		w.cta, w.index = int32(i/perCTA), int32(i%perCTA)
		w.sub = int32((int(w.cta)*turn + i%perCTA) % m.Schedulers)
		w.slot = perSub[w.sub]
		perSub[w.sub]++
		w.row = int32(i * c.stride)
		if c.leads {
			w.recent = new([cost.RecentIssues]int64)
		}
		w.local = localSpace + uint64(i)*localLines
		w.declared = w.local + spillLines - coalesce.LocalBase - uint64(i%perCTA)*declaredLines
	}
	for k := range s.subs {
		s.subs[k].init(int(perSub[k]), m.QueueDepth, m.LGDepth)
	}
	for i := range s.warps {
		w := &s.warps[i]
		s.subs[w.sub].warp[w.slot] = int32(i)
	}
	plan := p.plan
	s.readDue, s.writeDue = due(plan.Read), due(plan.Write)
	s.setCold(plan)
	s.againDue = [2][]int32{due(plan.ReadAgain), due(plan.WriteAgain)}
	s.againAcc = [2][]int32{make([]int32, c.pcs), make([]int32, c.pcs)}
	s.readAcc, s.writeAcc = make([]int32, c.pcs), make([]int32, c.pcs)
	s.mem = dram.New(m.Share(active, footprint.TrafficOf(plan)))
	s.stats.loop.localShare[0] = int32(plan.Local*unit + 0.5)
	local := &p.counts.locals
	rewritten := footprint.Rewritten(in.Program, float64(p.counts.warps), footprint.WordSectors*float64(p.counts.spilled), float64(local.Sectors), float64(local.Places))
	s.stats.loop.localShare[1] = int32(plan.LocalStores(rewritten)*unit + 0.5)
	s.remote = uint64(plan.Remote * (1 << 16))
	s.sharing = newSharing(in, p)
	s.atomics, s.gridBarrier = m.AtomicCost(active), int64(m.GridBarrier(float64(in.Together()))+0.5)
	s.vacancy = int64(cost.VacancyOf(m.Vacancy, m.VacancyWarp, perCTA, in.Cluster))
	s.interval = m.LaunchInterval * active
	s.apart = int64(cost.ClusterApart(in.Cluster, perCTA))
	s.releaseTimes = cost.ReleaseTimes(perCTA, int(timing.NewShape(in).Resident))
	if c.async {
		for i := range s.ctas {
			s.ctas[i].mbarriers = make([]mbarrier, p.mbarriers)
			if c.words {
				s.ctas[i].written = make([]int64, p.mbarriers)
			}
		}
	}
	return s
}

// localSpace is where the lines of local memory lie, out of the way of global ones.
const localSpace = 1 << 52

// privateShift is the bit from which on the line addresses of replicas differ.
const privateShift = 36

func (p *subPartition) init(slots, queue, lg int) {
	p.ready, p.why = make([]int64, slots), make([]timing.StallReason, slots)
	p.port, p.rank, p.since = make([]port, slots), make([]int64, slots), make([]int64, slots)
	p.warp, p.pending = make([]int32, slots), make([]wakeup, 0, slots)
	p.mio, p.lg = newRing(queue), newRing(lg)
	for i := range p.ready {
		p.ready[i], p.why[i] = never, timing.Idle
	}
	p.wake, p.visited, p.reason, p.latest = never, -1, timing.Idle, -1
}

// run clocks target CTAs to their end. With stagger, launches keep the
// device's pace; without, the first ones start together.
func (s *sm) run(target int64, stagger bool) error {
	s.target, s.stagger = target, stagger
	s.done = make([]int64, 0, target)
	s.nextLaunch = never
	for i := range s.ctas {
		s.ctas[i].launchAt = never
	}
	for i := range min(target, int64(len(s.ctas))) {
		s.schedule(int32(i), s.m.ColdStart)
	}
	for {
		t := s.nextLaunch
		for k := range s.subs {
			t = min(t, s.subs[k].wake)
		}
		if t == never {
			if c := s.c; (c.async || c.named) && s.unstick() {
				continue
			}
			break
		}
		s.now = t
		s.launchDue()
		if s.c.async {
			for k := range s.subs {
				s.startProducts(&s.subs[k])
			}
		}
		for k := range s.subs {
			if s.subs[k].wake <= t {
				s.issue(&s.subs[k])
			}
		}
	}
	if int64(len(s.done)) != target {
		return fmt.Errorf("timing: %d of %d CTAs never finish: their warps wait at a barrier that others do not reach", target-int64(len(s.done)), target)
	}
	s.finish()
	return nil
}

// finish closes the accounts: every scheduler's slots up to the last cycle,
// which is when L2 has taken the last store.
func (s *sm) finish() {
	s.stats.cycles = max(s.now+1, s.mem.Taken())
	for k := range s.subs {
		p := &s.subs[k]
		s.stats.slots[p.reason] += s.now - p.visited
		s.stats.slots[timing.Idle] += s.stats.cycles - 1 - s.now
	}
}
