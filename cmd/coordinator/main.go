// Command coordinator serves the sweep and worker APIs over one data directory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/deploy/scale"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/rpc/intake"
	"github.com/warptune/warptune/tuner/standby"
	"github.com/warptune/warptune/tuner/store"
)

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	// exitTakenOver: another coordinator serves in this one's place, and will.
	exitTakenOver = 3
)

func main() {
	intake.Serving()
	ctx, stop := cluster.StopContext()
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags.
type options struct {
	listen, data string
	metrics      string
	page         string
	insecure     bool
	existing     bool
	security     cluster.Security
	level        string
	logJSON      bool
	grace, lease time.Duration
	connections  rpc.ConnectionLimits
	calls, audit float64
	quotas       coordinator.Quotas
	backupEvery  time.Duration
	backupKeep   int
	pair         pairOptions
}

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	f := flag.NewFlagSet("coordinator", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are returned, help is printed below
	f.StringVar(&o.listen, "listen", "localhost:7070", "address to serve on; port 0 picks a free one")
	f.StringVar(&o.data, "data", "", "directory that keeps sweeps and results (required)")
	f.BoolVar(&o.existing, "existing", false, "refuse to start where there is no database yet: its volume may not be there")
	f.BoolVar(&o.insecure, "insecure", false, "serve plaintext on an address that is not loopback")
	f.StringVar(&o.metrics, "metrics", "", "address to answer Prometheus on, at /metrics; default: none")
	f.StringVar(&o.page, "page", "", "address to serve the page on, to whoever may look at sweeps: with the same tokens and TLS; default: none")
	o.security.ServerFlags(f)
	f.StringVar(&o.level, "log-level", "info", "trace, debug, info, warn or error")
	f.BoolVar(&o.logJSON, "log-json", false, "log as JSON")
	f.DurationVar(&o.grace, "grace", 5*time.Second, "time for workers to report or return what they hold at shutdown, and for calls under way to end")
	f.DurationVar(&o.lease, "lease", 30*time.Second, "how long a worker that is not heard of keeps its trials")
	f.IntVar(&o.connections.Total, "max-connections", 10000, "connections that are open at a time; more are closed at once")
	f.IntVar(&o.connections.PerHost, "max-connections-per-host", 2000, "connections of one host that are served; calls over more are refused")
	f.Float64Var(&o.calls, "max-calls", 5000, "calls a second of one caller at one host, with bursts of twice as many; more are refused; 0: no limit")
	f.IntVar(&o.quotas.Sweeps, "max-caller-sweeps", 200, "sweeps of one caller that run or are paused, where callers have credentials; admins have no limit; -1: nobody has")
	f.Int64Var(&o.quotas.Configurations, "max-caller-configurations", 1e9, "configurations that are to be evaluated for one caller, but for sweeps with a time budget of a day at most; -1: no limit")
	f.Int64Var(&o.quotas.BundleBytes, "max-caller-bundles", 4<<30, "bytes of the kernel bundles of one caller's sweeps; -1: no limit")
	f.Float64Var(&o.audit, "audit", 0.01, "share of outcomes, besides each best, that another worker finds out once more; when two disagree a third decides")
	f.DurationVar(&o.backupEvery, "backup-every", 24*time.Hour, "copy the database beside itself this often, while it is used; 0: never")
	f.IntVar(&o.backupKeep, "backup-keep", 3, "how many of those copies are kept")
	o.pair.flags(f)
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		f.Usage()
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: run \"coordinator --help\" for the flags", err)
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.data == "" {
		return nil, errors.New("--data is required: the directory to keep sweeps and results in")
	}
	if o.lease < time.Second {
		return nil, fmt.Errorf("--lease must be at least 1s, got %v", o.lease)
	}
	if o.connections.Total < 1 || o.connections.PerHost < 1 || !(o.calls >= 0) {
		return nil, fmt.Errorf("--max-connections %d, --max-connections-per-host %d and --max-calls %v: want at least one connection, and no negative rate", o.connections.Total, o.connections.PerHost, o.calls)
	}
	if !(o.audit >= 0 && o.audit <= 1) {
		return nil, fmt.Errorf("--audit %v: want a share, 0 to 1", o.audit)
	}
	if o.quotas.Sweeps == 0 || o.quotas.Configurations == 0 || o.quotas.BundleBytes == 0 {
		return nil, errors.New("--max-caller-sweeps, --max-caller-configurations and --max-caller-bundles must not be 0: to let nobody submit, give no submitter's token")
	}
	if o.backupEvery < 0 || o.backupKeep < 1 {
		return nil, fmt.Errorf("--backup-every %v and --backup-keep %d: want no negative time, and at least one copy", o.backupEvery, o.backupKeep)
	}
	if hclog.LevelFromString(o.level) == hclog.NoLevel {
		return nil, fmt.Errorf("unknown --log-level %q", o.level)
	}
	if err := errors.Join(o.security.CheckPair(), o.pair.check()); err != nil {
		return nil, err
	}
	return &o, o.checkListen()
}

// checkListen refuses plaintext to other machines unless it is asked for.
func (o *options) checkListen() error {
	for flag, address := range map[string]string{"--listen": o.listen, "--metrics": o.metrics, "--page": o.page} {
		if address == "" {
			continue
		}
		if _, _, err := net.SplitHostPort(address); err != nil {
			return fmt.Errorf("%s %q: want HOST:PORT, e.g. localhost:7070", flag, address)
		}
	}
	if o.metrics != "" && !o.insecure && rpc.CheckPlaintext(o.metrics) != nil {
		return fmt.Errorf("--metrics %s can be read from other machines: add --insecure if the network is trusted, or listen on localhost", o.metrics)
	}
	if o.page != "" {
		if err := o.security.CheckListen(o.page, o.insecure); err != nil {
			return fmt.Errorf("--page: %w", err)
		}
	}
	return o.security.CheckListen(o.listen, o.insecure)
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "promote" {
		return promote(ctx, args[1:], stderr)
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		fmt.Fprintf(stderr, "coordinator: %v\n", err)
		return exitUsage
	}
	err = serve(ctx, o, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "coordinator: %v\n", err)
	}
	switch {
	case errors.Is(err, standby.ErrTakenOver):
		return exitTakenOver
	case err != nil:
		return exitFailed
	}
	return exitDone
}

// newServer makes the server with its limits, and the listener to serve on.
func (o *options) newServer(l net.Listener, c *coordinator.Coordinator, secured []grpc.ServerOption, log hclog.Logger) (*rpc.Server, net.Listener) {
	counted, limits := o.connections.Limit(l, log)
	limits = append(limits, secured...)
	if o.calls > 0 {
		limits = append(limits, rpc.LimitCalls(o.calls)...)
	}
	server := rpc.NewServer(c, log, limits...)
	scale.Register(server, c)
	return server, counted
}

// serve runs until ctx ends or the coordinator cannot go on.
func serve(ctx context.Context, o *options, stderr io.Writer) (err error) {
	log := hclog.New(&hclog.LoggerOptions{Name: "coordinator", Level: hclog.LevelFromString(o.level), Output: stderr, JSONFormat: o.logJSON})
	secured, err := o.security.Server(log)
	if err != nil {
		return err
	}
	mine, err := o.lead(ctx, log)
	if err != nil || mine == nil {
		return err
	}
	defer mine.end()
	secured.Options = append(secured.Options, mine.gate()...)
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("%w: is another coordinator running there? choose another --listen, or port 0 for any free one", err)
	}
	defer listener.Close()
	database := filepath.Join(o.data, "warptune.db")
	_, missing := os.Stat(database)
	st, err := store.Open(database, store.OpenOptions{Existing: o.existing})
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: choose another --data", err)
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		log.Warn("there was no database: a new one is made. If there should be one, stop, and look whether its volume is there", "file", database)
	}
	used := mine.store(st, log)
	c, err := coordinator.New(used, coordinator.Options{Planner: cluster.Planner{}, Parts: cluster.Parts, Context: ctx, Log: log, Quotas: o.quotas, Ledger: tuner.LedgerOptions{LeaseTTL: o.lease, Audit: o.audit, AuditSeed: rand.Uint64()}})
	if err != nil && ctx.Err() != nil {
		log.Info("stopped before it served", "reason", err)
		return nil
	} else if err != nil {
		return err
	}
	server, counted := o.newServer(listener, c, secured.Options, log)
	mine.register(server)
	g, ctx := errgroup.WithContext(ctx)
	// The coordinator stops after the server, so that calls under way are answered.
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.Go(func() error { return c.Run(running) })
	g.Go(func() error { return server.Serve(counted) })
	g.Go(func() error { return serveMetrics(ctx, o.metrics, mine.metrics(c)) })
	g.Go(func() error { return mine.run(ctx, server, c) })
	g.Go(func() error { return o.servePage(ctx, c, secured, mine, log) })
	g.Go(func() error { server.ReportHealth(ctx); return nil })
	g.Go(func() error { o.backUp(ctx, st, st.Path(), c, log.Named("backup")); return nil })
	g.Go(func() error {
		<-ctx.Done()
		log.Info("stopping")
		late, cancel := context.WithTimeout(running, o.grace)
		defer cancel()
		cut := context.AfterFunc(late, server.Stop)
		c.Drain(late)
		mine.stop() // what waits for a standby waits no more
		server.GracefulStop()
		cut()
		stop()
		return nil
	})
	log.Info("serving", "address", listener.Addr().String(), "data", o.data, "store", c.ID())
	return g.Wait()
}
