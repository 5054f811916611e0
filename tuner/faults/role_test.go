package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/hashicorp/go-hclog"
	bolt "go.etcd.io/bbolt"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
	"github.com/warptune/warptune/tuner/worker"
)

// roleEnv makes the test binary a coordinator or a worker: role as JSON.
const roleEnv = "WARPTUNE_FAULTS_ROLE"

// role is what a process is to be.
type role struct {
	Worker  string // its name; "": a coordinator
	Address string // to listen on; of a worker: see rpc.CheckAddress

	// Of a coordinator.
	Path   string
	Lease  time.Duration
	Die    *death // nil: when it is killed
	Audit  float64
	NoSync bool   // the control of power cuts: nothing is ever synced
	Slow   string // a file: while it exists, each commit takes long
	Pair   *pair  // nil: it is alone

	// Of a worker.
	Slots   int
	Stay    bool          // it waits for further sweeps when nothing is left
	Took    time.Duration // by each evaluation while Storm exists
	Storm   string        // a file
	Crash   int64         // the configuration that ends its process
	Freeze  int64         // the configuration that stops its process
	Broken  bool          // it fails at everything
	Full    string        // a file: while it exists, too
	History string        // a folder to write down in what it says and hears
	Lies    int64         // it says what is not so of one configuration in so many; 0: of none
}

// death is a failpoint: the coordinator kills itself before, within or after
// its nth commit. What was committed before that is not acknowledged yet.
type death struct {
	Commit int
	Stage  stage
	Delay  time.Duration // from the beginning of the commit, unless after
}

type stage string

const (
	before stage = "before"
	within stage = "within"
	after  stage = "after"
)

func TestMain(m *testing.M) {
	text := os.Getenv(roleEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	var r role
	err := json.Unmarshal([]byte(text), &r)
	if err == nil && r.Worker != "" {
		err = r.work()
	} else if err == nil && r.Pair != nil {
		err = r.coordinateOfTwo()
	} else if err == nil {
		err = r.coordinate()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// coordinate serves the store until SIGTERM.
func (r *role) coordinate() error {
	st, err := store.Open(r.Path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		return err
	}
	if r.NoSync {
		neverSync(st)
	}
	var used store.Store = st
	if r.Die != nil {
		used = &dying{Store: st, death: *r.Die}
	}
	if r.Slow != "" {
		used = slow{used, r.Slow}
	}
	go sayUsage()
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: os.Stderr})
	c, err := coordinator.New(used, coordinator.Options{
		Planner: tunertest.Planner{}, Log: log, Ledger: tuner.LedgerOptions{LeaseTTL: r.Lease, Audit: r.Audit, AuditSeed: rand.Uint64()}, Tick: 100 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", r.Address)
	if err != nil {
		return err
	}
	go func() { _ = rpc.NewServer(c, nil).Serve(l) }()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	fmt.Println("serving")
	return errors.Join(c.Run(ctx), st.Close())
}

// sayUsage prints, at each SIGUSR1, how many goroutines the process has, how many bytes of
// heap, and how many open files.
func sayUsage() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for range asked {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		files, _ := os.ReadDir("/proc/self/fd")
		fmt.Println("usage", runtime.NumGoroutine(), m.HeapAlloc, len(files))
	}
}

// slow is a store whose commits take long while a file exists.
type slow struct {
	store.Store
	file string
}

func (s slow) Commit(c *tuner.Changes) error {
	if _, err := os.Stat(s.file); err == nil {
		time.Sleep(200 * time.Millisecond)
	}
	return s.Store.Commit(c)
}

// neverSync has bbolt leave writing to the kernel. It is what the store must
// never do, so it has no option for it.
func neverSync(st *store.Bolt) {
	db := reflect.ValueOf(st).Elem().FieldByName("db")
	(*(**bolt.DB)(unsafe.Pointer(db.UnsafeAddr()))).NoSync = true
}

// dying is a store whose process dies at a commit.
type dying struct {
	store.Store
	death
	commits int
}

func (d *dying) Commit(c *tuner.Changes) error {
	d.commits++
	if d.commits != d.death.Commit {
		return d.Store.Commit(c)
	}
	switch d.Stage {
	case before:
		time.Sleep(d.Delay) // whoever does not wait for the commit has answered by then
		die()
	case within:
		time.AfterFunc(d.Delay, die)
	}
	err := d.Store.Commit(c)
	if d.Stage == after {
		die()
	}
	return err
}

// die ends the process at once.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// work evaluates until nothing is left, and says what is acknowledged as new.
func (r *role) work() error {
	conn, err := rpc.Dial(r.Address, nil, rpc.ClientOptions(nil)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	recorded, err := record(conn, r.History)
	if err != nil {
		return err
	}
	w, err := worker.New(saying{recorded}, worker.Options{
		ID: r.Worker, Slots: r.Slots, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}, Leave: !r.Stay,
		Evaluator: worker.EvaluatorFunc(r.evaluate), MaxBackoff: 200 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	_, err = w.Run(context.Background())
	return err
}

func (r *role) evaluate(ctx context.Context, q tuner.Question, bundle []byte) (tuner.Outcome, error) {
	if _, err := os.Stat(r.Full); r.Broken || r.Full != "" && err == nil {
		return tuner.Outcome{}, &os.PathError{Op: "mkdir", Path: "/tmp/compile", Err: syscall.ENOSPC}
	}
	switch q.Index {
	case r.Crash:
		die()
	case r.Freeze:
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		select {} // until it has stopped
	}
	if _, err := os.Stat(r.Storm); err == nil {
		time.Sleep(r.Took)
	}
	o, err := tunertest.Evaluate(ctx, q, bundle)
	if r.Lies > 0 && q.Index%r.Lies == 0 && o.Validity == tuner.Correct {
		o.TimeUS *= 1.25
	}
	return o, err
}

// saying is a connection that prints which reports are acknowledged as new,
// and which come too late.
type saying struct{ grpc.ClientConnInterface }

func (s saying) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	err := s.ClientConnInterface.Invoke(ctx, method, in, out, opts...)
	m, ok := out.(*warptunev1.SynchronizeResponse)
	if !ok || err != nil {
		return err
	}
	reported := map[int64]bool{} // with an outcome
	for _, r := range in.(*warptunev1.SynchronizeRequest).GetReports() {
		reported[r.GetLease().GetSeq()] = r.GetOutcome() != nil
	}
	text := ""
	for _, a := range m.GetAcknowledgements() {
		seq, confirms := tuner.TrialOf(a.GetLease().GetSeq())
		if !reported[a.GetLease().GetSeq()] || confirms {
			continue
		}
		switch a.GetStatus() {
		case warptunev1.ReportStatus_REPORT_STATUS_RECORDED:
			text += fmt.Sprintln("recorded", a.GetLease().GetSweep(), seq)
		case warptunev1.ReportStatus_REPORT_STATUS_STALE, warptunev1.ReportStatus_REPORT_STATUS_ALREADY_RECORDED:
			text += fmt.Sprintln("late", a.GetLease().GetSweep(), seq)
		}
	}
	fmt.Print(text)
	return nil
}
