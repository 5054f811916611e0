package simengine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/mma"
	"github.com/warptune/warptune/simengine/exec/racecheck"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/sampling"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
	"github.com/warptune/warptune/simengine/verify"
)

// The costs of checking a launch by a sample, in executed warp instructions, so that the sample is
// the same on every machine.
const (
	// placeSeed seeds the choice of the CTAs at random, and drawnPlaces is how many there are.
	placeSeed   = 1
	drawnPlaces = 2
	// fullCost is the cost of a warp instruction in Full mode under all checks, in units of exec.Runner.Work: 300
	// ns of 10 ns (BenchmarkSgemmRaces). The other one, pageCost, is that of a page of device memory, each word of
	// which is noted: 10 us.
	fullCost = 30
	pageCost = 1_000
	// unwatched is how many times faster a run is without an observer than with one.
	unwatched = 3
	// longestFull is the most warp instructions of a CTA that is executed in full.
	longestFull = 50_000
	// patience is how many times longer a CTA may be if Check.Patient is set: about a second each.
	patience = 60
	// allWork is the work after which CheckAll executes no further CTA.
	allWork = 1_000_000_000
)

// allowance is the work that checking may add to the prediction of a launch: at each level about a
// thirtieth of what the shortest launches of the built-in kernels take.
func (l Level) allowance() int64 {
	if l == Model {
		return 2_000
	}
	return 25_000
}

// What is looked for, as "Looked for: …" goes on.
const (
	outOfBounds   = "accesses out of bounds"
	missedBarrier = "barriers that some threads do not reach"
)

var (
	slicedFor = []string{outOfBounds, missedBarrier, "races in shared memory (in one CTA)"}
	loopedFor = "in long loops in some iterations only"
	fullFor   = []string{"races in shared and global memory", "reads of memory that nothing wrote"}
	allFor    = []string{outOfBounds, missedBarrier}
	// togetherFor is of CTAs that wait for each other.
	togetherFor = []string{"races in shared memory", "reads of memory that nothing wrote"}
)

// Execution is the result of checking a launch in which no fault was found.
type Execution struct {
	Checked Checked
	Outputs []verify.Output // by argument; of those that are buffers
	// Skipped says why there are no outputs; "": there are.
	Skipped string
}

// inspection is the result of checking a launch at one level.
type inspection struct {
	execution *Execution
	err       error
}

// inspect checks a launch, once for each level.
func (e *Engine) inspect(m *Module, k *ir.Kernel, rec *recording, req *Request) (*Execution, error) {
	done, ok := rec.inspected[req.Level]
	if !ok {
		done.execution, done.err = e.examine(m, k, rec, req)
		rec.memory.Reset()
		rec.inspected[req.Level] = done
	}
	return done.execution, done.err
}

// Execute checks a launch without predicting it. It executes CTAs in full whatever the allowance: it
// is what other configurations are compared with. The error is a *Failure.
func (e *Engine) Execute(m *Module, req Request) (*Execution, error) {
	k, err := m.kernel(req.Kernel)
	if err != nil {
		return nil, err
	}
	if err := m.complete(k); err != nil {
		return nil, err
	}
	// What it computes does not depend on registers: it is not assembled.
	rec, err := e.record(m, k, &assemble.Program{}, &req)
	if err != nil {
		return nil, err
	}
	defer rec.memory.Reset()
	x := &Execution{Checked: Checked{Of: rec.launch.Grid.Count()}}
	if req.Check.Depth == CheckAll {
		return x, rec.executeAll(x)
	}
	return x, rec.executeShort(x, &req, false)
}

func (e *Engine) examine(m *Module, k *ir.Kernel, rec *recording, req *Request) (*Execution, error) {
	if err := m.complete(k); err != nil {
		return nil, err
	}
	x := &Execution{Checked: Checked{Of: rec.launch.Grid.Count()}}
	switch req.Check.Depth {
	case CheckNone:
		x.Skipped = "not asked for"
		return x, rec.executeEnds(x)
	case CheckAll:
		if err := rec.executeEnds(x); err != nil {
			return nil, err
		}
		return x, rec.executeAll(x)
	}
	return x, rec.executeSome(x, req)
}

// executeEnds executes the slices of the first and the last CTA, without an observer: enough to see
// accesses out of bounds and barriers that some threads never reach. Grids run past the ends of
// buffers in these CTAs. How long they are decides whether loops are estimated, so this is done at
// every depth. Races are looked for where a CTA is recorded, as is what all CTAs do alike in shared
// memory; if that fails, recheck reports the last CTA.
func (r *recording) executeEnds(x *Execution) error {
	if r.warn { // what one warned of, it does not again
		r.runner = exec.NewRunner(r.runner.Program())
	}
	last := r.launch.Grid.Count() - 1
	x.Checked.For = slicedFor
	if len(r.runner.Program().Loops) > 0 {
		x.Checked.For = append(slices.Clone(slicedFor), loopedFor)
	}
	if err := r.executeSliced(x, 0, last > 0); err != nil || last == 0 {
		return err
	}
	return r.executeSliced(x, last, r.runner.Program().SameShared())
}

// executeSliced executes the slice of a CTA, without its accesses to shared memory if device is set.
func (r *recording) executeSliced(x *Execution, id int64, device bool) error {
	err := r.fault(id, device)
	r.memory.Reset()
	if err == nil {
		x.Checked.CTAs++
		x.Checked.warnings(r.runner)
	}
	return err
}

// executeSome executes the slices of CTAs at random and at the other corners of the grid, within the
// allowance. For some launches it executes CTAs in full as well.
func (r *recording) executeSome(x *Execution, req *Request) error {
	if err := r.executeEnds(x); err != nil {
		return err
	}
	done := []int64{0, x.Checked.Of - 1}
	each := r.runner.Work()
	spent := int64(0)
	for _, id := range r.further(req.Grid) {
		if slices.Contains(done, id) {
			continue
		}
		if (spent+each)/unwatched > req.Level.allowance() {
			break
		}
		estimated := r.estimated
		err := r.executeSliced(x, id, true)
		r.estimated = estimated // the prediction's affair
		if err != nil {
			return err
		}
		spent += r.runner.Work()
		done = append(done, id)
	}
	return r.executeDrawn(x, req)
}

// further returns the CTAs to execute besides the first and the last: some at random, and the other
// corners of the grid.
func (r *recording) further(grid [3]int) []int64 {
	var ids []int64
	for k := range drawnPlaces {
		ids = append(ids, verify.Place(placeSeed, k, grid))
	}
	return append(ids, verify.Corners(grid)...)
}

// executeDrawn executes some CTAs in full, if it is this launch's turn.
func (r *recording) executeDrawn(x *Execution, req *Request) error {
	if !req.Check.Outputs {
		x.Skipped = "not asked for"
		return nil
	}
	return r.executeShort(x, req, !req.Check.Always)
}

// executeShort executes four CTAs in full if they are short enough: the first two, which may
// conflict with each other, the last, and one at random. With turns it does so only if it is the
// launch's turn. The probability of that follows from the cost: from the number of instructions
// first, then, since that takes longer to find, from the number of pages touched.
func (r *recording) executeShort(x *Execution, req *Request, turns bool) error {
	last := r.launch.Grid.Count() - 1
	ids := []int64{0, min(1, last), verify.Place(placeSeed, 0, req.Grid), last}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	most := int64(longestFull)
	if req.Check.Patient {
		most *= patience
	}
	long, err := r.instructions(ids[len(ids)/2])
	switch {
	case err != nil:
		return err
	case long > longestFull && long <= most:
		ids = ids[:1] // which is as good as any
	case long > most:
		x.Skipped = fmt.Sprintf("a CTA executes about %.0e warp instructions, and CTAs of more than %d are not executed in full", float64(long), most)
		return nil
	}
	n := int64(len(ids))
	if turns && r.turn(n*long*fullCost, req.Level) {
		pages, err := r.pages(ids[len(ids)/2])
		if err != nil {
			return err
		}
		turns = !r.turn(n*(long*fullCost+pages*pageCost), req.Level)
	}
	if turns {
		x.Skipped = "executing CTAs in full takes longer than the prediction, so it is done for a random few configurations, and this is none of them"
		return nil
	}
	// Alone, a CTA that waits for others never ends: what it takes then is bounded.
	err = r.executeFull(x, slices.Values(ids), 8*long+1000)
	if !timedOut(err) {
		return err
	}
	if long*x.Checked.Of > most {
		x.Skipped = fmt.Sprintf("CTAs wait for each other, and together have %.0e warp instructions, more than the %d that are executed in full", float64(long*x.Checked.Of), most)
		return nil
	}
	return r.executeTogether(x, 8*long+1000)
}

// timedOut reports whether CTAs executed more than they were allowed to.
func timedOut(err error) bool {
	fault := (*Failure)(nil)
	return errors.As(err, &fault) && fault.Kind == FailureTimeout
}

// executeTogether executes all CTAs of a grid at a time, since they wait for each other, each warp for at most so many
// basic blocks, and collects what they write.
func (r *recording) executeTogether(x *Execution, steps int64) error {
	full, err := r.module.compiled(r.kernel, exec.Full)
	if err != nil {
		return err
	}
	r.memory.Reset()
	x.Outputs = nil
	if !full.Spins || !exec.FitsTogether(full, r.launch) {
		x.Skipped = "a CTA that is executed alone waits for others"
		return nil
	}
	runner, writes := exec.NewRunner(full), verify.NewWrites(r.kernel)
	writes.Next()
	err = runner.Run(r.launch, r.memory, 0, exec.Options{Mode: exec.Full, WholeGrid: true, Races: true, Uninitialised: true, StepLimit: steps, Warn: r.warn}, writes)
	if err == nil {
		err = harmful(runner)
	}
	if timedOut(failureOf(err)) {
		x.Skipped = "CTAs wait for each other for longer than is executed in full"
		return nil
	}
	if err != nil {
		return failureOf(err)
	}
	x.Checked.Full, x.Checked.CTAs, x.Checked.ForFull = x.Checked.Of, x.Checked.Of, togetherFor
	x.Checked.warnings(runner)
	for _, b := range r.buffers {
		x.Outputs = append(x.Outputs, writes.Output(b, r.memory, true))
	}
	return nil
}

// turn reports whether a launch is drawn. The probability is such that the expected work is the
// level's allowance.
func (r *recording) turn(work int64, level Level) bool {
	share := float64(binary.LittleEndian.Uint32(r.lot[:])) / (1 << 32)
	return share*float64(work) < float64(level.allowance())
}

// instructions is how many warp instructions a CTA executes. Iterations that are left out count.
func (r *recording) instructions(id int64) (int64, error) {
	opt := r.sliced(workLimit)
	opt.PathOnly = true
	if err := r.run(id, opt); err != nil {
		r.forget()
		return 0, failureOf(err)
	}
	r.memory.Reset()
	warps := r.recorder.CTA().Warps
	n := sampling.LengthOf(r.kernel, warps).Instructions + productWork(r.kernel, warps)
	return int64(n) * int64(len(exec.Together(r.runner.Program(), r.launch, id))), nil
}

// productWork is the warpgroup MMAs that warps execute, in warp instructions.
func productWork(k *ir.Kernel, warps []trace.Warp) (sum float64) {
	each := make([]int64, len(k.Blocks))
	for i := range k.Blocks {
		for pc := k.Blocks[i].Start; pc < k.Blocks[i].End; pc++ {
			if in := &k.Instrs[pc]; in.Op == ir.Wgmma {
				each[i] += mma.GroupWork(in.Matrix)
			}
		}
	}
	var weight []int64
	for i := range warps {
		weight = coalesce.Weights(&warps[i], weight)
		for j, s := range warps[i].Steps {
			sum += float64(weight[j] * each[s.Block])
		}
	}
	return sum
}

// pages is how many pages of 4 KB of device memory a CTA touches in the iterations that its slice
// executes.
func (r *recording) pages(id int64) (int64, error) {
	opt := r.sliced(workLimit)
	opt.DeviceOnly = true
	touched := touchedPages{}
	if err := r.runner.Run(r.launch, r.memory, id, opt, touched); err != nil {
		return 0, failureOf(err)
	}
	r.memory.Reset()
	return int64(len(touched)), nil
}

// touchedPages is an observer that notes pages of device memory.
type touchedPages map[uint64]struct{}

// Async notes the pages that a bulk copy reads or writes.
func (p touchedPages) Async(_ int, _ trace.Async, ranges []trace.Range) {
	for _, x := range ranges {
		for page := x.Addr >> 12; page <= (x.Addr+uint64(x.Bytes)-1)>>12; page++ {
			p[page] = struct{}{}
		}
	}
}

func (p touchedPages) Step(int, int, uint32)  {}
func (p touchedPages) Repeat(int, int, int64) {}
func (p touchedPages) Restart()               { clear(p) }

func (p touchedPages) Access(_, _ int, space ir.Space, _ int, mask uint32, addr *[exec.WarpSize]uint64) {
	if space != ir.Global {
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		p[addr[bits.TrailingZeros32(m)]>>12] = struct{}{}
	}
}

// executeAll executes every CTA in full, in order.
func (r *recording) executeAll(x *Execution) error {
	x.Checked.For, x.Checked.CTAs = allFor, 0
	err := r.executeFull(x, func(yield func(int64) bool) {
		for id := int64(0); id < x.Checked.Of && yield(id); id++ {
		}
	}, stepLimit)
	if timedOut(err) && r.runner.Program().Spins {
		return r.executeTogether(x, stepLimit)
	}
	return err
}

// executeFull executes CTAs in full one after the other, each warp for at most so many basic blocks,
// and collects what they write.
func (r *recording) executeFull(x *Execution, ids iter.Seq[int64], steps int64) error {
	full, err := r.module.compiled(r.kernel, exec.Full)
	if err != nil {
		return err
	}
	runner, writes := exec.NewRunner(full), verify.NewWrites(r.kernel)
	opt := exec.Options{Mode: exec.Full, GlobalRaces: racecheck.New(0), Uninitialised: true, StepLimit: steps, Warn: r.warn}
	done, work := int64(0), int64(0)
	ran := map[int64]bool{} // the first CTA of each cluster that was executed
	for id := range ids {
		if work > allWork {
			break
		}
		together := exec.Together(full, r.launch, id)
		if ran[together[0]] {
			continue
		}
		if len(together) > 1 {
			ran[together[0]] = true
		}
		writes.Next()
		err := runner.Run(r.launch, r.memory, id, opt, writes)
		if err == nil {
			err = harmful(runner)
		}
		if err != nil {
			return failureOf(err)
		}
		work += runner.Work()
		done += int64(len(together))
	}
	x.Checked.Full, x.Checked.ForFull = done, fullFor
	x.Checked.warnings(runner)
	if n := opt.GlobalRaces.Dropped(); n > 0 {
		x.Checked.Warnings = append(x.Checked.Warnings, fmt.Sprintf("races in global memory are looked for between CTAs near each other only: %d times 4 KiB were too much to remember", n))
	}
	x.Checked.CTAs = max(x.Checked.CTAs, done)
	for _, b := range r.buffers {
		x.Outputs = append(x.Outputs, writes.Output(b, r.memory, done == x.Checked.Of))
	}
	return nil
}
