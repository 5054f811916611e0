// Command worker evaluates trials for a coordinator. Whatever starts it needs to
// know only its exit status: 0 nothing is left to do, 75 drained (SIGTERM or
// --lifetime), 64 wrong flags, anything else a fault.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/measure"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/worker"
)

// Exit statuses; 64 and 75 are EX_USAGE and EX_TEMPFAIL of sysexits.h.
const (
	exitFinished = 0
	exitFault    = 1
	exitUsage    = 64
	exitDrained  = 75
)

func main() {
	ctx, stop := cluster.StopContext()
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	coordinator       string
	security          cluster.Security
	slots             int
	id                string
	lifetime, stagger time.Duration
	grace, timeout    time.Duration
	stay              bool
	measure           bool
	gpu               measure.Options
	assembler, labels string
	level             string
	logJSON           bool
}

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are returned, help is printed below
	f.StringVar(&o.coordinator, "coordinator", "", "address of the coordinator, HOST:PORT, several separated by commas, or @FILE with such a line (required); it may start later, and move")
	o.security.ClientFlags(f)
	f.IntVar(&o.slots, "slots", runtime.GOMAXPROCS(0), "configurations evaluated at a time")
	f.StringVar(&o.id, "id", "", "name of this worker; default: host name and process id")
	f.DurationVar(&o.lifetime, "lifetime", 0, "drain after this time, e.g. 55m of a job of 1h; 0: no limit")
	f.DurationVar(&o.stagger, "lifetime-stagger", 0, "add a random time up to this to --lifetime, so that workers do not leave together")
	f.DurationVar(&o.grace, "grace", 10*time.Second, "time to finish what is being evaluated when draining")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "longest evaluation of one configuration; beyond it the outcome is timeout")
	f.BoolVar(&o.stay, "stay", false, "wait for further sweeps when nothing is left")
	f.BoolVar(&o.measure, "measure", false, "measure on this machine's GPU, for sweeps that are measured, instead of simulating")
	f.IntVar(&o.gpu.Device, "device", 0, "with --measure: number of the GPU, from 0")
	f.BoolVar(&o.gpu.Shared, "shared", false, "with --measure: measure although other processes use the GPU")
	f.DurationVar(&o.gpu.Limit, "limit", measure.DefaultLimit, "with --measure: longest measurement of one configuration; what takes longer hangs, and is ended")
	f.StringVar(&o.assembler, "assembler", "", "with --measure: what makes the code, ptxas or driver; default: ptxas if there is one")
	f.StringVar(&o.labels, "labels", "", "NAME=VALUE,…: labels that sweeps can ask for (--on), besides host and, with --measure, gpu and driver")
	f.StringVar(&o.level, "log-level", "info", "trace, debug, info, warn or error")
	f.BoolVar(&o.logJSON, "log-json", false, "log as JSON")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		f.Usage()
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: run \"worker --help\" for the flags", err)
	}
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.coordinator == "":
		return nil, errors.New("--coordinator is required: the address it listens on, HOST:PORT")
	case rpc.CheckAddress(o.coordinator) != nil:
		return nil, fmt.Errorf("--coordinator: %w", rpc.CheckAddress(o.coordinator))
	case o.security.CheckPair() != nil:
		return nil, o.security.CheckPair()
	case !utf8.ValidString(o.id) || strings.ContainsFunc(o.id, unicode.IsControl):
		return nil, fmt.Errorf("--id %q: want a text without control characters", o.id)
	case o.slots < 1:
		return nil, fmt.Errorf("--slots must be at least 1, got %d", o.slots)
	case o.lifetime < 0 || o.stagger < 0 || o.grace < 0:
		return nil, errors.New("--lifetime, --lifetime-stagger and --grace must not be negative")
	case o.gpu.Limit <= 0:
		return nil, fmt.Errorf("--limit must be positive, got %v", o.gpu.Limit)
	case labelsError(o.labels) != nil:
		return nil, fmt.Errorf("--labels: %w", labelsError(o.labels))
	case o.timeout <= 0:
		return nil, fmt.Errorf("--timeout must be positive, got %v", o.timeout)
	case hclog.LevelFromString(o.level) == hclog.NoLevel:
		return nil, fmt.Errorf("unknown --log-level %q", o.level)
	}
	return &o, nil
}

func labelsError(text string) error {
	_, err := cluster.ParseLabels(text)
	return err
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitFinished
	} else if err != nil {
		fmt.Fprintf(stderr, "worker: %v\n", err)
		return exitUsage
	}
	exit, err := work(ctx, o, stderr)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "worker: %v\n", err)
		return exitFault
	case exit == worker.Drained:
		return exitDrained
	}
	return exitFinished
}

// work runs a worker until it is drained or nothing is left.
func work(ctx context.Context, o *options, stderr io.Writer) (worker.Exit, error) {
	log := hclog.New(&hclog.LoggerOptions{Name: "worker", Level: hclog.LevelFromString(o.level), Output: stderr, JSONFormat: o.logJSON})
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if o.id == "" {
		o.id = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	conn, err := o.security.Dial(o.coordinator)
	if err != nil {
		return worker.Faulted, err
	}
	defer conn.Close()
	wo, done, err := o.evaluation(ctx, conn)
	if err != nil {
		return worker.Faulted, err
	}
	defer done()
	labels, err := cluster.ParseLabels(o.labels)
	if err != nil {
		return worker.Faulted, err
	}
	maps.Copy(wo.Labels, labels)
	wo.Labels["host"] = host
	wo.ID, wo.Slots, wo.Log, wo.Leave, wo.Grace = o.id, o.slots, log, !o.stay, o.grace
	wo.Evaluator = worker.Logging(worker.TimeLimited(worker.Recovering(wo.Evaluator), o.timeout), log.With("worker", o.id))
	w, err := worker.New(conn, wo)
	if err != nil {
		return worker.Faulted, err
	}
	if o.lifetime > 0 {
		life := o.lifetime
		if o.stagger > 0 {
			life += rand.N(o.stagger)
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, life)
		defer cancel()
	}
	log.Info("working", "coordinator", o.coordinator, "slots", o.slots, "engine", wo.Engine, "labels", wo.Labels)
	return w.Run(ctx)
}

// evaluation is what the worker evaluates with: the simulator, or this machine's GPU. Call done
// at the end.
func (o *options) evaluation(ctx context.Context, conn grpc.ClientConnInterface) (wo worker.Options, done func(), err error) {
	if !o.measure {
		archs, err := cluster.Descriptors()
		return worker.Options{Engine: simengine.Version(), Archs: archs, Labels: map[string]string{}, Evaluator: cluster.NewEvaluator(worker.NewKnown(conn))}, func() {}, err
	}
	g, err := measure.NewGauge(ctx, o.gpu, o.assembler)
	if err != nil {
		return wo, nil, err
	}
	m, err := cluster.NewMeasuring(g)
	if err != nil {
		g.Close()
		return wo, nil, err
	}
	return worker.Options{Engine: measure.Engine, Archs: m.Archs(), Labels: m.Labels(), Evaluator: m}, g.Close, nil
}
