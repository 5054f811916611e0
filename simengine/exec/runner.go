package exec

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/warptune/warptune/simengine/exec/alu"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/internal/code"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/exec/tensormap"
	"github.com/warptune/warptune/simengine/exec/texture"
	"github.com/warptune/warptune/simengine/ir"
)

// MaxThreads is the largest CTA of every CUDA device.
const MaxThreads = 1024

// Restarter is an Observer that can forget the CTA being run. Sampling
// of loops with barriers needs one: should the warps of a CTA disagree on the
// iterations to leave out, the CTA is run again without sampling. With one, what
// may be a race is looked at closely in a second run.
type Restarter interface {
	Observer
	Restart()
}

// Runner runs CTAs of one program. It keeps its buffers between runs, so that
// running many CTAs allocates nothing. It is for one goroutine.
type Runner struct {
	p        *Program
	scope    code.Scope
	code     []code.Instr // of the scope
	blocks   []code.Block
	mem      *memory.Device
	obs      Observer
	opt      Options
	fault    *fault.Fault
	warnings []fault.Fault

	ctaState
	bufferBinding
	raceDetection
	loopSampling
	addrReuse
	accounts
	scratch
	handovers

	clusterGroup
	asyncObs AsyncObserver     // obs, if it is one
	texObs   TextureObserver   // obs, if it is one
	maps     []usedMap         // by code.AsyncOp.cached
	arrivals map[uint64]uint64 // of Slice mode, by warp and mbarrier: those that gave a state
}

// ctaState is the CTA that is executed, and its launch.
type ctaState struct {
	launch     Launch
	cta        int64
	cluster    clusterPlace
	params     []byte
	warps      []warp
	nwarps     int
	shared     []byte
	local      []byte // of all threads
	localBytes int    // of one thread
	barriers   [16]barrier
	asyncState

	races       *raceChecker
	definedness *shadow // of Options.Uninitialised
	spareRaces  *raceChecker
	spareShadow *shadow // to use again
}

// bufferBinding is which buffers the program's pointers point into.
type bufferBinding struct {
	regions  []*memory.Region // by access.index: the buffer last touched
	boundTo  *memory.Device   // where the buffers of bufferOf are, and
	bound    []byte           // the parameters that name them
	bufferOf [code.MostOrigins]*memory.Region
	isBuffer uint64 // origins that are a buffer
	written  uint64 // those that the kernel may write
}

// raceDetection is the state of looking for races.
type raceDetection struct {
	series     *racecheck.Series // Options.GlobalRaces
	lanes      laneAccess
	filter     *raceFilter // asked before races
	checkRaces bool        // races is asked at once
	suspect    bool        // the filter found what may be a race

	spareFilter *raceFilter // to use again
}

// loopSampling is what the warps of a CTA have agreed on about loops that are sampled.
type loopSampling struct {
	sampling       bool
	agreed         map[loopKey]int64 // iterations left out
	least          map[loopKey]int64 // of those of periodic loops, the fewest that a warp of an earlier run could leave out
	disagree       bool
	noBarrierLoops bool
	passages       []passage
	runs           int // of this CTA, because warps did not agree on passages
}

// addrReuse is the accesses that others are compared with.
type addrReuse struct {
	families []family // by access.family
	follower Follower // obs, if it is one
}

// accounts is what runs count.
type accounts struct {
	work      int64
	leftOut   int64           // of work, what PathOnly leaves out
	slowPaths []SlowPathCount // by Program.slow
	matches   []MatchCount    // by Program.matched
}

// scratch is used within one instruction.
type scratch struct {
	addr, saved alu.Vec64
	t32         alu.Vec32
	t64         alu.Vec64
	x           [4]alu.Vec64
	matrices    *matrices // of MMAs
	groupTiles  *mma.WarpgroupTiles
	straddle    [32]byte
	torn        tornWrite
	ranges      []Range // of a bulk copy
	corner      [tensormap.MaxRank]int32
	box         []byte // of a bulk copy
	request     TextureRequest
	fetched     texture.Fetch
}

// NewRunner returns a runner for the program.
func NewRunner(p *Program) *Runner {
	r := &Runner{p: p}
	r.regions, r.families, r.agreed = make([]*memory.Region, p.Accesses), make([]family, p.Families+1), map[loopKey]int64{}
	r.least = map[loopKey]int64{}
	r.maps, r.arrivals = make([]usedMap, p.MapUses), map[uint64]uint64{}
	for _, pc := range p.SlowPaths {
		r.slowPaths = append(r.slowPaths, SlowPathCount{PC: int(pc)})
	}
	for _, pc := range p.Matched {
		r.matches = append(r.matches, MatchCount{PC: int(pc)})
	}
	return r
}

// For returns a runner for another program with buffers of this one, which must
// not run again.
func (r *Runner) For(p *Program) *Runner {
	n := NewRunner(p)
	n.shared, n.local, n.spareRaces, n.spareFilter = r.shared, r.local, r.spareRaces, r.spareFilter
	return n
}

// Program is what the runner runs.
func (r *Runner) Program() *Program { return r.p }

// What Work counts beside executed instructions: the entry of a block, and an
// access with each of its lanes that an observer is told of. A unit stands for
// about 10 ns and at most 8 bytes of a trace.
const (
	workStep   = 3
	workAccess = 5
	workLane   = 2
)

// Work is what the last Run took, in executed warp instructions and as many more
// for what an observer is told. It is the same everywhere, with an observer and
// without.
func (r *Runner) Work() int64 { return r.work }

// PathWork is what of it the last Run would have taken with PathOnly.
func (r *Runner) PathWork() int64 { return r.work - r.leftOut }

// account counts an access.
func (r *Runner) account(data bool, mask uint32) {
	n := workAccess + workLane*int64(bits.OnesCount32(mask))
	r.work += n
	if !data {
		r.leftOut += n
	}
}

// observe counts an access and tells the observer of it. data says that PathOnly does
// not leave it out.
func (r *Runner) observe(w *warp, in *code.Instr, space ir.Space, width int, mask uint32, data bool) {
	r.account(data, mask)
	if r.obs != nil && !w.looking {
		r.obs.Access(w.id, int(in.PC), space, width, mask, &r.addr)
	}
}

// Run executes one CTA (a linear index in the grid, x fastest) to its end.
// Shared and local memory start as zeros, device memory as earlier runs left
// it; see Memory.Reset. obs may be nil. The error is a *Fault, or says what is
// wrong with the launch. In Full mode the other CTAs of its cluster are executed with it, and obs is
// told of all of them. In Slice mode they are where addresses or branches depend on data that warps
// pass each other, and obs is told of the one CTA.
func (r *Runner) Run(l Launch, mem *memory.Device, cta int64, opt Options, obs Observer) error {
	if err := validate(r.p, &l); err != nil {
		return err
	}
	if cta < 0 || cta >= l.Grid.Count() {
		return fmt.Errorf("launch %s: CTA %d of a grid of %d", r.p.Kernel.Name, cta, l.Grid.Count())
	}
	if opt.Mode != ModeInvalid && opt.Mode != r.p.Mode {
		return fmt.Errorf("run %s: mode %v asked for, compiled for %v", r.p.Kernel.Name, opt.Mode, r.p.Mode)
	}
	if opt.Warps != 0 && !(r.p.Mode == Slice && r.p.WarpsOnlyMeet()) {
		return fmt.Errorf("run %s: some warps asked for, which depend on others", r.p.Kernel.Name)
	}
	if opt.WholeGrid && !FitsTogether(r.p, l) {
		return fmt.Errorf("run %s: all CTAs of a grid of %d asked for together", r.p.Kernel.Name, l.Grid.Count())
	}
	if r.p.Distinct {
		if err := checkDistinct(mem, r.p.Kernel, l.Params); err != nil {
			return err
		}
	}
	r.mem, r.opt, r.launch, r.cta, r.observer = mem, opt, l, cta, obs
	r.scope = opt.scope()
	r.code, r.blocks = r.p.In(r.scope)
	r.observeBy(obs)
	r.bind()
	if r.opt.StepLimit <= 0 {
		r.opt.StepLimit = DefaultStepLimit
	}
	if r.opt.WorkLimit <= 0 {
		r.opt.WorkLimit = math.MaxInt64
	}
	_, canRestart := obs.(Restarter)
	r.sampling = r.p.Mode == Slice && opt.LoopSample > 0 && !r.p.Blocking
	canRestart = canRestart || obs == nil
	r.forbidBarrierLoops(!canRestart)
	if r.p.Waits && r.p.Mode == Slice {
		opt.Races, opt.GlobalRaces, r.opt.Races, r.opt.GlobalRaces = false, nil, false, nil
	}
	r.series = opt.GlobalRaces
	if size, _ := clusterOf(r.p, &l); size.Count() > 1 || opt.WholeGrid {
		r.series = nil // knows one CTA at a time
	}
	r.checkRaces = !opt.Races || !canRestart || r.p.Waits || !r.p.CanFilterRaces() || r.series != nil
	r.passages, r.runs = r.passages[:0], 0
	clear(r.least)
	for r.work, r.leftOut = 0, 0; ; {
		work, aside := r.work, r.leftOut
		r.setupGroup()
		err := r.runCTAs()
		switch {
		case r.disagree:
			r.sampling = r.restartPassages()
		case r.suspect:
			r.checkRaces, r.work, r.leftOut = true, work, aside
		default:
			return r.verdict(err)
		}
		if obs != nil {
			obs.(Restarter).Restart()
		}
	}
}

const (
	maxLocal    = 512 << 10 // local memory of a thread, the limit of every CUDA device
	maxLocalCTA = 256 << 20 // local memory of a CTA that is simulated
	maxFile     = 16 << 20  // registers of a warp that is simulated
)

// fail records a fault of instruction in; in may be nil.
func (r *Runner) fail(w *warp, in *code.Instr, f fault.Fault) signal {
	if f.CTA = r.cta; in != nil {
		f.PC = int(in.PC)
		f.Pos, f.Instr = r.p.Kernel.Instrs[in.PC].Pos, r.p.Kernel.Text(int(in.PC))
	}
	if f.Thread < 0 && w != nil {
		f.Thread = -1
	}
	if r.passes(f.Kind) {
		r.warn(&f)
		return next
	}
	r.fault = &f
	return faulted
}

func (r *Runner) trap(w *warp, in *code.Instr, mask uint32) signal {
	return r.fail(w, in, fault.Fault{Kind: fault.TrapExecuted, Thread: w.thread(bits.TrailingZeros32(mask))})
}
