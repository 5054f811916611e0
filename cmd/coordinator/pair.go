package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/metrics"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/standby"
	"github.com/warptune/warptune/tuner/store"
)

// pairOptions are the flags of a coordinator that is one of two.
type pairOptions struct {
	arbiter  string
	of       string
	security cluster.Security
	timing   standby.Timing
	required bool
}

// arbiterFlag is what --arbiter says of itself, here and in promote.
const arbiterFlag = "directory on a volume that both coordinators see, which says who of them serves; or kubernetes:LEASE in the pod's namespace; or exec:PROGRAM that keeps it (docs/OPERATIONS.md)"

func (p *pairOptions) flags(f *flag.FlagSet) {
	p.timing = standby.Usual
	f.StringVar(&p.arbiter, "arbiter", "", arbiterFlag+"; default: this coordinator is alone")
	f.StringVar(&p.of, "standby-of", "", "address of the other coordinator, which this one follows while it serves, and whose place it takes; needs --arbiter")
	p.security.StandbyFlags(f)
	f.DurationVar(&p.timing.TakeOver, "take-over-after", p.timing.TakeOver, "how long the lease must not have been renewed before this standby takes over, the same for both; 0: by \"coordinator promote\" only")
	f.DurationVar(&p.timing.Wait, "standby-wait", p.timing.Wait, "how long an answer waits for the standby before this coordinator goes on without; the standby cannot take over by itself then")
	f.BoolVar(&p.required, "standby-required", false, "never go on without a standby: nothing is acknowledged while there is none")
}

func (p *pairOptions) check() error {
	t := &p.timing
	switch {
	case p.arbiter == "" && (p.of != "" || p.required):
		return errors.New("--standby-of and --standby-required need --arbiter: two coordinators cannot tell a death from a cut network by themselves")
	case p.arbiter == "exec:" || p.arbiter == "kubernetes:":
		return fmt.Errorf("--arbiter %s wants a program's path, or a Lease's name, after it", p.arbiter)
	case p.of != "" && rpc.CheckAddress(p.of) != nil:
		return fmt.Errorf("--standby-of: %w", rpc.CheckAddress(p.of))
	case t.Wait < 100*time.Millisecond || t.Wait > time.Hour:
		return fmt.Errorf("--standby-wait %v: want 100ms to 1h", t.Wait)
	case t.TakeOver != 0 && t.TakeOver < 2*time.Second:
		return fmt.Errorf("--take-over-after %v: want at least 2s, or 0", t.TakeOver)
	}
	if t.TakeOver > 0 { // 20 s: renewed every 4 s, and lasts 15 s
		t.Renew, t.Lease = t.TakeOver/5, t.TakeOver*3/4
		t.Heartbeat = min(t.Heartbeat, t.TakeOver/10)
	}
	if p.required {
		t.Wait = 0
	}
	return p.security.CheckPair()
}

// openArbiter returns what --arbiter names.
func openArbiter(at string) (standby.Arbiter, error) {
	if program, ok := strings.CutPrefix(at, "exec:"); ok {
		return standby.Command(program), nil
	}
	if name, ok := strings.CutPrefix(at, "kubernetes:"); ok {
		return standby.Kubernetes(name)
	}
	return standby.Directory(at), nil
}

// leading is the part of a coordinator that holds the lease; the zero value is that of
// one which is alone.
type leading struct {
	keeper  *standby.Keeper // nil: it is alone
	node    *standby.Node
	timing  standby.Timing
	log     hclog.Logger
	primary *standby.Primary
	stopped context.CancelFunc
	kept    chan error // how Keeper.Run ended
}

// lead returns once this coordinator is to serve; nil: it was told to stop before.
func (o *options) lead(ctx context.Context, log hclog.Logger) (*leading, error) {
	if o.pair.arbiter == "" {
		if n, err := standby.FindNode(o.data); errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("%w: choose another --data", err)
		} else if err != nil {
			return nil, err
		} else if n != nil {
			return nil, tuner.Errorf(tuner.Conflict, "start", "%s is %s, one of two coordinators, and another may serve in its place: give --arbiter and, if it is to be alone from now on, remove its warptune.node first", o.data, n.Name)
		}
		return &leading{}, nil
	}
	a, err := openArbiter(o.pair.arbiter)
	if err != nil {
		return nil, err
	}
	config := standby.Config{Dir: o.data, Arbiter: a, Timing: o.pair.timing, Log: log.Named("standby")}
	config.Follows = func(ctx context.Context, f *standby.Follower) {
		metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeStanding(w, f.Standing()) })
		var all sync.WaitGroup
		all.Go(func() { f.Watch(ctx) })
		if err := serveMetrics(ctx, o.metrics, metrics); err != nil {
			log.Error("metrics are not served", "error", err)
		}
		all.Wait()
	}
	if o.pair.of != "" {
		conn, err := o.pair.security.Dial(o.pair.of)
		if err != nil {
			return nil, fmt.Errorf("--standby-of: %w", err)
		}
		defer conn.Close()
		config.Conn = conn
		probe, err := net.Listen("tcp", o.listen) // better now than when it takes over
		if err != nil {
			return nil, fmt.Errorf("%w: another --listen is needed", err)
		}
		probe.Close()
	}
	k, n, err := standby.Lead(ctx, config)
	if err != nil && ctx.Err() != nil {
		log.Info("stopping") // it served nobody
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	l := &leading{keeper: k, node: n, timing: o.pair.timing, log: log.Named("standby"), kept: make(chan error, 1)}
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stopped = stop
	go func() { l.kept <- k.Run(keeping) }() // opening a large database may take longer than the lease
	log.Info("this coordinator holds the lease", "node", n.Name, "term", k.Record().Term)
	return l, nil
}

func (l *leading) gate() []grpc.ServerOption {
	if l.keeper == nil {
		return nil
	}
	return standby.Gate(l.keeper)
}

// store returns the store that the coordinator uses.
func (l *leading) store(st *store.Bolt, log hclog.Logger) store.Store {
	if l.keeper == nil {
		return st
	}
	l.primary = standby.NewPrimary(st, l.keeper, l.timing, log.Named("standby"))
	return l.primary
}

func (l *leading) register(s grpc.ServiceRegistrar) { standby.Register(s, l.primary) }

// metrics answers with the coordinator's and those of the two.
func (l *leading) metrics(c *coordinator.Coordinator) http.Handler {
	own := metrics.Handler(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own.ServeHTTP(w, r)
		if l.primary != nil {
			l.primary.Standing().WriteMetrics(w)
		}
	})
}

func writeStanding(w http.ResponseWriter, s standby.Standing) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.WriteMetrics(w)
}

// run records what becomes of the standby until ctx ends, and returns an error when
// the lease is lost: everybody is let go at once then, to find who serves.
func (l *leading) run(ctx context.Context, server *rpc.Server, c *coordinator.Coordinator) error {
	if l.keeper == nil {
		return nil
	}
	note := func(what, detail string) {
		if err := c.Note(ctx, tuner.Act{What: what, Detail: detail}); err != nil && ctx.Err() == nil {
			l.log.Warn("it could not be recorded", "what", what, "error", err)
		}
	}
	go func() {
		r := l.keeper.Record()
		note(tuner.ActTakeOver, fmt.Sprintf("%s serves from term %d of the lease on", r.Holder, r.Term))
		standby.Watch(ctx, l.node, l.primary.Standing, func(s standby.Standing) { note(tuner.ActStandby, s.String()) })
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.kept:
		l.kept <- err
		l.primary.Stop()
		server.Stop()
		return err
	}
}

// stop ends writes that wait for a standby.
func (l *leading) stop() {
	if l.primary != nil {
		l.primary.Stop()
	}
}

// end lets go of the lease when nothing is written any more: it runs out.
func (l *leading) end() {
	if l.keeper != nil {
		l.stopped()
		<-l.kept
		_ = l.node.Close()
	}
}

// promotion is the flags of promote.
type promotion struct {
	data, arbiter string
	acceptLoss    bool
}

func parsePromote(args []string, stderr io.Writer) (*promotion, error) {
	var p promotion
	f := flag.NewFlagSet("coordinator promote", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&p.data, "data", "", "data directory of the coordinator that is to serve (required)")
	f.StringVar(&p.arbiter, "arbiter", "", arbiterFlag+" (required)")
	f.BoolVar(&p.acceptLoss, "accept-loss", false, "also if it may lack what the other one has acknowledged")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if p.data == "" || p.arbiter == "" || f.NArg() > 0 {
		return nil, errors.New("want --data DIR and --arbiter, and nothing else")
	}
	return &p, nil
}

// promote is the command that makes a node the holder of the lease.
func promote(ctx context.Context, args []string, stderr io.Writer) int {
	p, err := parsePromote(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		fmt.Fprintf(stderr, "coordinator promote: %v\n", err)
		return exitUsage
	}
	a, err := openArbiter(p.arbiter)
	var r standby.Record
	if err == nil {
		r, err = standby.Promote(ctx, p.data, a, store.OpenOptions{}, p.acceptLoss)
	}
	if err != nil {
		fmt.Fprintf(stderr, "coordinator promote: %v\n", err)
		return exitFailed
	}
	fmt.Fprintf(stderr, "%s is to serve, in term %d of the lease: its coordinator takes over within seconds if it runs, or when it is started\n", r.Holder, r.Term)
	return exitDone
}
