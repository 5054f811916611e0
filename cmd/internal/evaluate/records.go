package evaluate

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/record"
)

// Result is the evaluation of one record.
type Result struct {
	Outcome tuner.Outcome
	Report  *simengine.Report // nil unless the outcome is correct
	// Profiled is the report that a record's counters compare with, of a launch by itself: Report, unless the record
	// has a time beside them. Nil where Report is nil or the record has no counters.
	Profiled *simengine.Report
	Cost     time.Duration // wall time of the evaluation, compilation included
	// Processor is the processor time of it, as far as it is not collecting
	// garbage: unlike Cost it is the same on a busy machine. Where the system
	// does not tell, it is Cost.
	Processor time.Duration
}

// Batch evaluates records.
type Batch struct {
	Compiler Compiler // for records without PTX of their own
	// Assembler says registers, spills and static shared memory; nil: the model of one does.
	Assembler *compile.PTXAS
	// Modelled has the model say them even where a launch record does.
	Modelled bool
	PTX      fs.FS // where a record's "ptx" lies as NAME.ptx; nil: none
	Kernels  func(name string) (*kernel.Definition, error)
	Launches map[int]kernel.Listed // of records that are launch records, by line
	Arch     *arch.Descriptor
	Level    simengine.Level
	Slots    int
	Check    simengine.Depth
	Warn     bool
	// Compare compares what configurations write: records with PTX of their own with the others of
	// their group, in their order (groups may compute different things), the rest as a sweep does.
	Compare bool
	Without []string // rules of the assembler model to leave out
	// Repeated says that of each profiled launch another came before, as of the data sets in the repository
	// (measure.py): only what a kernel updates is not there already when it stores it.
	Repeated bool
	// Done is told after each record, from one goroutine at a time; may be nil.
	Done func(finished, total int)
}

// Run evaluates every record. Results are in the order of the records whatever
// the number of slots. Records that ask for what there is not are an error before
// anything is evaluated; what one evaluates to never is.
func (b *Batch) Run(ctx context.Context, records []record.Record) ([]Result, error) {
	tasks, err := b.tasks(records)
	if err != nil {
		return nil, err
	}
	return b.run(ctx, tasks, byModule(records, b.Slots))
}

// tasks checks the records.
func (b *Batch) tasks(records []record.Record) ([]task, error) {
	tasks := make([]task, len(records))
	peers := map[string]*Peers{}
	var answers *Answers
	if b.Compare {
		answers = NewAnswers()
	}
	for i := range records {
		var err error
		if tasks[i], err = b.task(&records[i]); err != nil {
			return nil, fmt.Errorf("line %d: %w", records[i].Line, err)
		}
		t := &tasks[i]
		t.job.Answers = answers
		if _, own := t.compiler.(filePTX); own && b.Compare {
			key := fmt.Sprint(t.job.Kernel.Name, t.job.Problem, records[i].GroupKey())
			if peers[key] == nil {
				peers[key] = &Peers{}
			}
			peers[key].add(t.job.Config, t.compiler)
			t.job.Peers = peers[key]
		}
	}
	return tasks, nil
}

// task is one record, checked.
type task struct {
	line     int
	job      Job
	compiler Compiler
	profiled bool // the record has counters; unless job.Cold it has a time beside them
}

func (b *Batch) task(r *record.Record) (task, error) {
	l, err := b.listed(r)
	if err != nil {
		return task{}, err
	}
	t := task{line: r.Line, compiler: b.Compiler, job: Job{Kernel: l.Kernel, Config: l.Config, Problem: r.ProblemSize, Arch: b.Arch, Level: b.Level, Check: b.Check, Warn: b.Warn, Without: b.Without, Assembler: b.Assembler, Modelled: b.Modelled}}
	// Counters come from one launch under a profiler, times from launches back to back. A record with both asks two
	// questions.
	t.profiled = len(r.Counters) > 0
	t.job.Cold, t.job.Repeated = t.profiled && r.TimeUS == nil, b.Repeated
	if r.PTX == "" || b.PTX == nil {
		return t, nil
	}
	file := filePTX{b.PTX, r.PTX}
	t.compiler = file
	return t, file.check()
}

// listed is a record's kernel and configuration.
func (b *Batch) listed(r *record.Record) (kernel.Listed, error) {
	if l, ok := b.Launches[r.Line]; ok {
		return l, nil
	}
	def, err := b.Kernels(r.Kernel)
	if err != nil {
		return kernel.Listed{}, err
	}
	cfg, err := Config(def, r)
	return kernel.Listed{Kernel: def, Config: cfg}, err
}

// Launches are the launch records among records, by line: those with arguments and, beside
// such, those that could not be assembled.
func Launches(records []record.Record) (map[int]kernel.Listed, error) {
	launch := func(r *record.Record) bool { return r.Launch() || r.Failed() }
	if !slices.ContainsFunc(records, func(r record.Record) bool { return r.Launch() }) {
		return nil, nil
	}
	var lines []kernel.LaunchLine
	for i := range records {
		if r := &records[i]; launch(r) {
			lines = append(lines, kernel.LaunchLine{Number: r.Line, Text: r.Raw})
		}
	}
	_, of, err := kernel.Launches(lines, nil)
	if err != nil {
		return nil, err
	}
	out := make(map[int]kernel.Listed, len(of))
	for i := range of {
		out[lines[i].Number] = of[i]
	}
	return out, nil
}

func (b *Batch) run(ctx context.Context, tasks []task, parts [][]int) ([]Result, error) {
	out := make([]Result, len(tasks))
	work := make(chan []int)
	finished := make(chan int)
	g, ctx := errgroup.WithContext(ctx)
	for range max(b.Slots, 1) {
		g.Go(func() error { return b.slot(ctx, tasks, out, work, finished) })
	}
	g.Go(func() error {
		defer close(work)
		for _, part := range parts {
			select {
			case work <- part:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error { return b.count(ctx, finished, len(tasks)) })
	return out, g.Wait()
}

func (b *Batch) count(ctx context.Context, finished <-chan int, total int) error {
	for n := 0; n < total; {
		select {
		case <-finished:
			n++
			if b.Done != nil {
				b.Done(n, total)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (b *Batch) slot(ctx context.Context, tasks []task, out []Result, work <-chan []int, finished chan<- int) error {
	runtime.LockOSThread() // its processor time is what evaluations cost
	defer runtime.UnlockOSThread()
	ev := New(b.Compiler)
	for part := range work {
		for _, i := range part {
			r, crashed, err := survived(ctx, ev, &tasks[i])
			if err != nil {
				return fmt.Errorf("line %d: %w", tasks[i].line, err)
			}
			if out[i] = r; crashed {
				ev = New(b.Compiler)
			}
			select {
			case finished <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// byModule groups record numbers by their PTX, so that a slot reuses what it
// parsed, in order of first appearance. A group is cut so that slots balance, and
// that each has some of few records.
func byModule(records []record.Record, slots int) [][]int {
	const largest, each = 32, 4
	most := max(min(largest, len(records)/(each*max(slots, 1))), 1)
	groups := map[string][]int{}
	var order []string
	for i := range records {
		key := records[i].Kernel + "\x00" + records[i].PTX
		if _, ok := groups[key]; !ok {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	sort.SliceStable(order, func(a, b int) bool { return groups[order[a]][0] < groups[order[b]][0] })
	var out [][]int
	for _, key := range order {
		g := groups[key]
		for len(g) > most {
			out, g = append(out, g[:most]), g[most:]
		}
		out = append(out, g)
	}
	return out
}

func evaluate(ctx context.Context, ev *Evaluator, t *task) (Result, error) {
	start, began := time.Now(), processorTime()
	outcome, report, err := ev.With(t.compiler).Evaluate(ctx, t.job)
	if err != nil {
		return Result{}, err
	}
	r := Result{Outcome: outcome, Report: report, Cost: time.Since(start), Processor: processorTime() - began}
	if r.Processor <= 0 {
		r.Processor = r.Cost
	}
	r.Profiled, err = profiled(ctx, ev, t, report)
	return r, err
}

// profiled is Result.Profiled of a task whose report is known.
func profiled(ctx context.Context, ev *Evaluator, t *task, report *simengine.Report) (*simengine.Report, error) {
	switch {
	case !t.profiled || report == nil:
		return nil, nil
	case t.job.Cold:
		return report, nil
	}
	job := t.job
	job.Cold, job.Check, job.Answers = true, simengine.CheckNone, nil
	_, report, err := ev.With(t.compiler).Evaluate(ctx, job)
	return report, err
}

// Config is a record's configuration in its kernel's space. Parameters that the
// record does not give take their default; it need not meet the conditions.
func Config(def *kernel.Definition, r *record.Record) (search.Config, error) {
	cfg := def.Default()
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		raw := r.Params[name]
		i := slices.Index(cfg.Names, name)
		if i < 0 {
			return cfg, fmt.Errorf("kernel %s has no parameter %q: it has %s", def.Name, name, strings.Join(cfg.Names, ", "))
		}
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		} else if cfg.Values[i].Kind == search.String {
			cfg.Values[i] = search.OfString(text)
			continue
		}
		value, err := search.ParseValue(cfg.Values[i].Kind, text)
		if err != nil {
			return cfg, fmt.Errorf("parameter %s: %w", name, err)
		}
		cfg.Values[i] = value
	}
	return def.Complete(cfg, slices.Sorted(maps.Keys(r.Params)))
}

// filePTX is the PTX that a record names.
type filePTX struct {
	files fs.FS
	stem  string
}

// check says that there is no such file.
func (f filePTX) check() error {
	file, err := f.files.Open(f.stem + ".ptx")
	if err != nil {
		return fmt.Errorf("no %s.ptx in the PTX directory: give the directory, .zip or .tar.zst that holds it by --ptx-dir, or leave the flag out to compile from source", f.stem)
	}
	return file.Close()
}

func (f filePTX) Compile(context.Context, compile.Request) (compile.Result, error) {
	text, err := fs.ReadFile(f.files, f.stem+".ptx")
	if err != nil {
		return compile.Result{}, err
	}
	return compile.GivenPTX(text), nil
}

// Made is in Compiler: it is there.
func (f filePTX) Made(ctx context.Context, r compile.Request) (compile.Result, bool) {
	res, err := f.Compile(ctx, r)
	return res, err == nil
}
