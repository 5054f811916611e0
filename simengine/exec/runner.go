package exec

import (
	"fmt"
	"math/bits"

	"github.com/warptune/warptune/simengine/ir"
)

// MaxThreads is the largest CTA of every CUDA device.
const MaxThreads = 1024

// Restarter is an Observer that can forget the CTA being run. Sampling
// of loops with barriers needs one: should the warps of a CTA disagree on the
// iterations to leave out, the CTA is run again without sampling.
type Restarter interface {
	Observer
	Restart()
}

// Runner runs CTAs of one program. It keeps its buffers between runs, so that
// running many CTAs allocates nothing. It is for one goroutine.
type Runner struct {
	p     *Program
	mem   *Memory
	obs   Observer
	opt   Options
	fault *Fault

	launch     Launch
	cta        int64
	params     []byte
	warps      []warp
	nwarps     int
	shared     []byte
	local      []byte
	localBytes int
	barriers   [16]barrier
	regions    []*region // by access.index: the buffer last touched
	races      *raceChecker
	sampling   bool
	agreed     map[loopKey]int64
	disagree   bool

	noBarrierLoops bool

	addr, saved vec64
	t32         vec32
	t64         vec64
	x           [4]vec64
	straddle    [32]byte
	torn        tornWrite
	checker     *raceChecker
}

// NewRunner returns a runner for the program.
func NewRunner(p *Program) *Runner {
	return &Runner{p: p, regions: make([]*region, p.accesses), agreed: map[loopKey]int64{}}
}

// Program is what the runner runs.
func (r *Runner) Program() *Program { return r.p }

// Run executes one CTA (a linear index in the grid, x fastest) to its end.
// Shared and local memory start as zeros, device memory as earlier runs left
// it; see Memory.Reset. obs may be nil. The error is a *Fault, or says what is
// wrong with the launch.
func (r *Runner) Run(l Launch, mem *Memory, cta int64, opt Options, obs Observer) error {
	if err := r.validate(l, cta); err != nil {
		return err
	}
	if opt.Mode != ModeInvalid && opt.Mode != r.p.Mode {
		return fmt.Errorf("run %s: mode %v asked for, compiled for %v", r.p.Kernel.Name, opt.Mode, r.p.Mode)
	}
	if r.mem != mem {
		clear(r.regions)
	}
	r.mem, r.obs, r.opt, r.launch, r.cta = mem, obs, opt, l, cta
	if r.opt.StepLimit <= 0 {
		r.opt.StepLimit = DefaultStepLimit
	}
	_, canRestart := obs.(Restarter)
	r.sampling = r.p.Mode == Slice && opt.LoopSample > 0
	r.disagree = false
	r.setup()
	r.forbidBarrierLoops(!canRestart && obs != nil)
	err := r.runCTA()
	if r.disagree {
		if obs != nil {
			obs.(Restarter).Restart()
		}
		r.sampling, r.disagree = false, false
		r.setup()
		err = r.runCTA()
	}
	return err
}

func (r *Runner) validate(l Launch, cta int64) error {
	k := r.p.Kernel
	for _, d := range []Dim3{l.Grid, l.CTA} {
		if d.X < 1 || d.Y < 1 || d.Z < 1 {
			return fmt.Errorf("launch %s: grid %v of %v: every dimension must be at least 1", k.Name, l.Grid, l.CTA)
		}
	}
	switch {
	case l.CTA.X > MaxThreads || l.CTA.Y > MaxThreads || l.CTA.Z > 64 || l.CTA.Count() > MaxThreads:
		return fmt.Errorf("launch %s: a CTA of %v threads: at most %d", k.Name, l.CTA, MaxThreads)
	case l.Grid.X > 1<<31-1 || l.Grid.Y > 65535 || l.Grid.Z > 65535:
		return fmt.Errorf("launch %s: a grid of %v: at most 2147483647 x 65535 x 65535", k.Name, l.Grid)
	case cta < 0 || cta >= l.Grid.Count():
		return fmt.Errorf("launch %s: CTA %d of a grid of %d", k.Name, cta, l.Grid.Count())
	case l.DynamicShared < 0 || l.DynamicShared > maxShared || k.SharedBytes > maxShared:
		return fmt.Errorf("launch %s: %d static and %d dynamic bytes of shared memory: want at most %d of each", k.Name, k.SharedBytes, l.DynamicShared, maxShared)
	case k.LocalBytes > maxLocal || int64(k.LocalBytes)*l.CTA.Count() > maxLocalCTA:
		return fmt.Errorf("launch %s: %d bytes of local memory for each of %d threads: at most %d, and %d together", k.Name, k.LocalBytes, l.CTA.Count(), maxLocal, maxLocalCTA)
	case r.p.fileBytes() > maxFile:
		return fmt.Errorf("launch %s: %d bytes of registers live in one warp: at most %d", k.Name, r.p.fileBytes(), maxFile)
	case len(l.Params) < paramBytes(k):
		return fmt.Errorf("launch %s: %d bytes of parameters, the kernel takes %d", k.Name, len(l.Params), paramBytes(k))
	}
	return nil
}

// maxShared is far above the shared memory of any SM.
const maxShared = 1 << 20

const (
	maxLocal    = 512 << 10 // local memory of a thread, the limit of every CUDA device
	maxLocalCTA = 256 << 20 // local memory of a CTA that is simulated
	maxFile     = 16 << 20  // registers of a warp that is simulated
)

// fileBytes is the size of the register files of one warp.
func (p *Program) fileBytes() int {
	return int(p.n32)*WarpSize*4 + int(p.n64)*WarpSize*8
}

// setup brings the CTA to its start.
func (r *Runner) setup() {
	p, k := r.p, r.p.Kernel
	r.params, r.fault = r.launch.Params, nil
	threads := int(r.launch.CTA.Count())
	r.nwarps = (threads + WarpSize - 1) / WarpSize
	r.growWarps()
	n := k.SharedBytes
	if r.launch.DynamicShared > 0 {
		n = p.dynamicShared + r.launch.DynamicShared
	}
	r.shared = zeroed(r.shared, n)
	r.localBytes = k.LocalBytes
	r.local = zeroed(r.local, r.localBytes*r.nwarps*WarpSize)
	r.barriers = [16]barrier{}
	clear(r.agreed)
	for i := range r.warps[:r.nwarps] {
		r.startWarp(&r.warps[i], min(threads-i*WarpSize, WarpSize))
	}
	r.races = nil
	if r.opt.Races && p.Mode == Full {
		if r.checker == nil {
			r.checker = &raceChecker{}
		}
		r.races = r.checker
		r.races.reset(r.nwarps, len(r.shared), p.granule)
	}
}

// zeroed returns b with n zero bytes.
func zeroed(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// growWarps makes sure there are enough warps; constants are written once.
func (r *Runner) growWarps() {
	for len(r.warps) < r.nwarps {
		p := r.p
		w := warp{
			id: len(r.warps), first: len(r.warps) * WarpSize,
			r32: make([]vec32, p.n32), r64: make([]vec64, p.n64), pred: make([]uint32, p.npred),
			loops: make([]loopRun, len(p.Loops)),
		}
		for _, c := range p.consts32 {
			fill(&w.r32[c.index], c.value)
		}
		for _, c := range p.consts64 {
			fill(&w.r64[c.index], c.value)
		}
		r.warps = append(r.warps, w)
	}
}

func fill[T word](d *[WarpSize]T, v T) {
	for i := range d {
		d[i] = v
	}
}

func (r *Runner) startWarp(w *warp, lanes int) {
	w.live = uint32(uint64(1)<<lanes - 1)
	w.state, w.ip, w.steps, w.tick, w.carry = ready, -1, 0, 1, 0
	w.stack = append(w.stack[:0], frame{block: 0, rpc: -1, mask: w.live, since: 1})
	w.inLoops = w.inLoops[:0]
	for i := range w.loops {
		w.loops[i].active, w.loops[i].entries = false, 0
	}
	for _, s := range r.p.specials {
		r.special(w, s)
	}
}

// special sets one special register for all lanes.
func (r *Runner) special(w *warp, s specialSlot) {
	if s.slot.file == file64 {
		fill(&w.r64[s.slot.index], uint64(w.steps))
		return
	}
	d := &w.r32[s.slot.index]
	for l := range d {
		d[l] = r.specialValue(w, l, s.reg)
	}
}

func (r *Runner) specialValue(w *warp, l int, reg ir.Special) uint32 {
	t, cta, grid := w.thread(l), r.launch.CTA, r.launch.Grid
	switch reg {
	case ir.TidX:
		return uint32(t % cta.X)
	case ir.TidY:
		return uint32(t / cta.X % cta.Y)
	case ir.TidZ:
		return uint32(t / cta.X / cta.Y)
	case ir.NTidX:
		return uint32(cta.X)
	case ir.NTidY:
		return uint32(cta.Y)
	case ir.NTidZ:
		return uint32(cta.Z)
	case ir.CTAIdX:
		return uint32(r.cta % int64(grid.X))
	case ir.CTAIdY:
		return uint32(r.cta / int64(grid.X) % int64(grid.Y))
	case ir.CTAIdZ:
		return uint32(r.cta / int64(grid.X) / int64(grid.Y))
	case ir.NCTAIdX:
		return uint32(grid.X)
	case ir.NCTAIdY:
		return uint32(grid.Y)
	case ir.NCTAIdZ:
		return uint32(grid.Z)
	}
	return r.machineValue(w, l, reg)
}

// machineValue is a special register that tells where a thread runs. SMs are
// not modelled here: every CTA believes it is alone on SM 0.
func (r *Runner) machineValue(w *warp, l int, reg ir.Special) uint32 {
	switch reg {
	case ir.LaneID:
		return uint32(l)
	case ir.WarpID:
		return uint32(w.id)
	case ir.NWarpID:
		return MaxThreads / WarpSize
	case ir.NSMID:
		return 1
	case ir.LaneMaskEQ:
		return 1 << l
	case ir.LaneMaskLT:
		return 1<<l - 1
	case ir.LaneMaskLE:
		return uint32(uint64(2)<<l - 1)
	case ir.LaneMaskGT:
		return ^uint32(uint64(2)<<l - 1)
	case ir.LaneMaskGE:
		return ^uint32(1<<l - 1)
	case ir.DynamicSmemSize:
		return uint32(r.launch.DynamicShared)
	case ir.TotalSmemSize:
		return uint32(len(r.shared))
	case ir.Clock:
		return uint32(w.steps)
	}
	return 0
}

// fail records a fault of instruction in; in may be nil.
func (r *Runner) fail(w *warp, in *instr, f Fault) signal {
	f.CTA = r.cta
	if in != nil {
		f.PC = int(in.pc)
		f.Pos, f.Instr = r.p.Kernel.Instrs[in.pc].Pos, r.p.Kernel.Text(int(in.pc))
	}
	if f.Thread < 0 && w != nil {
		f.Thread = -1
	}
	r.fault = &f
	return faulted
}

func (r *Runner) trap(w *warp, in *instr, mask uint32) signal {
	return r.fail(w, in, Fault{Kind: TrapExecuted, Thread: w.thread(bits.TrailingZeros32(mask))})
}
