package simengine

import (
	"crypto/sha256"
	"errors"

	"github.com/warptune/warptune/simengine/assemble"
	"github.com/warptune/warptune/simengine/exec"
	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/sampling"
	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
	"github.com/warptune/warptune/simengine/verify"
)

// loopSample is how many leading iterations of a long counted loop are executed before its middle is
// left out. Timing measures the later ones. Buffers of tiles are two to five deep, and until all are
// filled an iteration does not wait. Eight instead of five change nothing that shows.
const loopSample = 5

// stepLimit is how many basic blocks one warp may execute before the configuration is given up as
// one that does not end: at a few nanoseconds a block, seconds.
const stepLimit = 5_000_000

// workLimit is the most work (exec.Runner.Work) of all CTAs executed for one configuration. Beyond
// it the configuration is given up as one that does not end. It bounds the execution to seconds and
// the traces to 0.5 GB. The launches of the data sets take at most 20 % of it.
const workLimit = 60_000_000

// recording is one launch whose CTAs are executed and traced when they are asked for. It does not
// depend on registers, caps, carve-outs or clocks, so configurations that differ only in these share
// one.
type recording struct {
	key       string
	lot       [sha256.Size]byte // draws whether it is executed in full
	module    *Module
	kernel    *ir.Kernel
	program   *assemble.Program // for any cap: what it tells of loads does not depend on it
	launch    exec.Launch
	memory    *memory.Device
	runner    *exec.Runner
	recorder  *coalesce.Recorder
	bankWidth int
	ctas      map[traceKey]executed
	kept      int64           // work of ctas
	extents   []timing.Extent // of the buffer arguments
	buffers   []verify.Buffer
	predicted map[predictionKey]prediction
	sampled   *sampling.Sample // nil: not known
	slowPaths []timing.SlowPath
	matches   []timing.Match
	counted   bool // slow and matches are known
	// Of the configuration that is being simulated, so that its outcome does not
	// depend on those before it: the CTAs it asked for, and their work.
	asked map[traceKey]bool
	work  int64
	raced bool // races have been looked for
	// estimated is set if loops whose iterations depend on data are sampled.
	estimated bool
	inspected map[Level]inspection
	warn      bool // Check.Warn
}

// traceKey is a CTA to trace. device is set if accesses to shared memory may be left out; warps are the only ones
// executed, 0 all.
type traceKey struct {
	id     int64
	device bool
	warps  uint32
}

// executed is a CTA's trace, and the work of executing it with accesses and without.
type executed struct {
	trace      *trace.CTA
	work, path int64
}

// record returns the recording for a launch: the last one if it is for the same launch.
func (e *Engine) record(m *Module, k *ir.Kernel, program *assemble.Program, req *Request) (*recording, error) {
	key := req.launchKey(m.Digest)
	if e.last != nil && e.last.key == key && e.last.kept <= workLimit {
		clear(e.last.asked)
		e.last.work = 0
		return e.last, nil
	}
	code, err := m.compiled(k, exec.Slice)
	if err != nil {
		return nil, err
	}
	runner, recorder := e.machinery(code, k, req.Arch.BankWidth)
	memory, params, extents, buffers, err := marshal(k, req)
	if err != nil {
		return nil, &Failure{FailureLaunch, err}
	}
	r := &recording{
		key: key, lot: req.lot(m.Digest), module: m, kernel: k, memory: memory, extents: extents, buffers: buffers, runner: runner,
		recorder: widen(recorder, k, program), bankWidth: req.Arch.BankWidth, program: program,
		ctas: map[traceKey]executed{}, asked: map[traceKey]bool{}, predicted: map[predictionKey]prediction{},
		inspected: map[Level]inspection{}, warn: req.Check.Warn,
		launch: exec.Launch{Grid: dim(req.Grid), CTA: dim(req.CTA), Cluster: dim(req.Cluster), DynamicShared: req.DynamicShared, Params: params, Replicas: req.Replicas},
	}
	e.last = r
	return r, nil
}

// widen tells a recorder which loads and stores the assembler merges into wide ones.
func widen(r *coalesce.Recorder, k *ir.Kernel, program *assemble.Program) *coalesce.Recorder {
	for _, w := range program.Wide {
		if k.Instrs[w.PC].Space == ir.Shared {
			r.Widen(w.PC, int(w.Bytes))
		}
	}
	return r
}

// keptMachinery is the work of a recording up to which its buffers are used again.
const keptMachinery = workLimit / 64

// machinery returns a runner and a recorder with the buffers of the last recording, which is given
// up.
func (e *Engine) machinery(code *exec.Program, k *ir.Kernel, bankWidth int) (*exec.Runner, *coalesce.Recorder) {
	last := e.last
	if e.last = nil; last == nil || last.kept > keptMachinery {
		return exec.NewRunner(code), coalesce.NewRecorder(k, bankWidth)
	}
	last.recorder.Reset(k, bankWidth)
	return last.runner.For(code), last.recorder
}

func dim(d [3]int) exec.Dim3 { return exec.Dim3{X: d[0], Y: d[1], Z: d[2]} }

// cta returns the trace of one CTA.
func (r *recording) cta(id int64) (*trace.CTA, error) { return r.trace(traceKey{id: id}) }

// deviceCTA returns the trace of one CTA without its accesses to shared memory.
func (r *recording) deviceCTA(id int64) (*trace.CTA, error) {
	return r.trace(traceKey{id: id, device: true})
}

func (r *recording) trace(w traceKey) (*trace.CTA, error) {
	c, ok := r.ctas[w]
	if r.asked[w] {
		return c.trace, nil
	}
	if left := workLimit - r.work; !ok || c.work > left {
		var err error
		if c, err = r.execute(w, max(left, 1)); err != nil {
			return nil, err
		}
	}
	r.asked[w] = true
	r.work += c.work
	return c.trace, nil
}

// execute runs one CTA and keeps its trace. The first one with accesses to shared memory is also
// checked for races there.
func (r *recording) execute(w traceKey, limit int64) (executed, error) {
	opt := r.sliced(limit)
	opt.DeviceOnly, opt.Warps = w.device, w.warps
	opt.Races = !r.raced && !w.device
	err := r.run(w.id, opt)
	if suspect := (*fault.Fault)(nil); opt.Races && errors.As(err, &suspect) && suspect.Kind == fault.Race {
		if err = r.confirm(w.id, suspect); err == nil {
			opt.Races = false
			err = r.run(w.id, opt)
		}
	}
	if err != nil {
		r.forget()
		return executed{}, failureOf(err)
	}
	r.raced = r.raced || !w.device
	c := executed{coalesce.Clone(r.recorder.CTA()), r.runner.Work(), r.runner.PathWork()}
	r.kept += c.work
	r.ctas[w] = c
	return c, nil
}

// forget replaces the recorder, whose buffers may be large, after a run that failed.
func (r *recording) forget() {
	r.recorder = widen(coalesce.NewRecorder(r.kernel, r.bankWidth), r.kernel, r.program)
}

// grid is the number of CTAs along each axis. warps is the number of warps of a CTA.
func (r *recording) grid() [3]int {
	return [3]int{r.launch.Grid.X, r.launch.Grid.Y, r.launch.Grid.Z}
}

func (r *recording) warps() int {
	return int(r.launch.CTA.Count()+exec.WarpSize-1) / exec.WarpSize
}

// run executes a CTA into the recorder.
func (r *recording) run(id int64, opt exec.Options) error {
	r.recorder.Begin(id, r.warps())
	if err := r.runner.Run(r.launch, r.memory, id, opt, r.recorder); err != nil {
		return err
	}
	return harmful(r.runner)
}

// failureOf returns a configuration's failure for the error of an execution.
func failureOf(err error) error {
	var f *fault.Fault
	if !errors.As(err, &f) {
		return &Failure{FailureLaunch, err}
	}
	switch f.Kind {
	case fault.Race, fault.Uninitialised:
		return &Failure{FailureCorrectness, err}
	case fault.StepLimit:
		return &Failure{FailureTimeout, err}
	case fault.Unsupported:
		return &Failure{FailureUnsupported, err}
	}
	return &Failure{FailureRuntime, err}
}
