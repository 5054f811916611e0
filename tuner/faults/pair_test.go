package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/standby"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// pair makes a coordinator one of two; its role's Path is its data directory.
type pair struct {
	Arbiter  string // a directory
	Of       string // the other's address; "": it follows nobody
	Cut      string // a file: while it exists the arbiter does not answer
	MaxSize  int    // bytes of the database; 0: any
	Required bool   // it never goes on without a standby
}

// shortly is standby.Usual, some times as fast; not more, since a busy machine or disk
// stands still for a second now and then.
var shortly = standby.Timing{Renew: 400 * time.Millisecond, Lease: 4 * time.Second, TakeOver: 6 * time.Second, Wait: 1500 * time.Millisecond, Heartbeat: 400 * time.Millisecond}

// cutting is an arbiter that does not answer while a file exists.
type cutting struct {
	standby.Arbiter
	file string
}

func (c cutting) cut() error {
	if _, err := os.Stat(c.file); c.file != "" && err == nil {
		return errors.New("the arbiter does not answer")
	}
	return nil
}

func (c cutting) Read(ctx context.Context) (standby.Record, error) {
	if err := c.cut(); err != nil {
		return standby.Record{}, err
	}
	return c.Arbiter.Read(ctx)
}

func (c cutting) Swap(ctx context.Context, old, next standby.Record) (bool, error) {
	if err := c.cut(); err != nil {
		return false, err
	}
	return c.Arbiter.Swap(ctx, old, next)
}

// coordinateOfTwo is cmd/coordinator's serve, with a planner of tests.
func (r *role) coordinateOfTwo() error {
	a := standby.Directory(r.Pair.Arbiter)
	log := hclog.New(&hclog.LoggerOptions{Level: hclog.Info, Output: os.Stderr})
	timing, options := shortly, store.OpenOptions{AnyFileSystem: true, MaxSize: r.Pair.MaxSize}
	if r.Pair.Required {
		timing.Wait = 0
	}
	c := standby.Config{Dir: r.Path, Arbiter: cutting{a, r.Pair.Cut}, Timing: timing, Log: log, Options: options}
	if r.Pair.Of != "" {
		conn, err := rpc.Dial(r.Pair.Of, nil, rpc.ClientOptions(nil)...)
		if err != nil {
			return err
		}
		defer conn.Close()
		c.Conn = conn
		c.Follows = func(ctx context.Context, f *standby.Follower) { f.Watch(ctx) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	k, n, err := standby.Lead(ctx, c)
	if err != nil {
		return err
	}
	kept := make(chan error, 1)
	go func() { kept <- k.Run(ctx) }()
	st, err := store.Open(n.Database(), options)
	if err != nil {
		return err
	}
	p := standby.NewPrimary(st, k, timing, log)
	var used store.Store = p
	if r.Die != nil {
		used = &dying{Store: p, death: *r.Die}
	}
	co, err := coordinator.New(used, coordinator.Options{
		Planner: tunertest.Planner{}, Log: log, Ledger: tuner.LedgerOptions{LeaseTTL: r.Lease, Audit: r.Audit, AuditSeed: rand.Uint64()}, Tick: 100 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", r.Address)
	if err != nil {
		return err
	}
	server := rpc.NewServer(co, nil, standby.Gate(k)...)
	standby.Register(server, p)
	go func() { _ = server.Serve(l) }()
	go standby.Watch(ctx, n, p.Standing, nil)
	ran := make(chan error, 1)
	go func() { ran <- co.Run(ctx) }()
	fmt.Println("serving")
	select {
	case err = <-ran:
	case err = <-kept:
		server.Stop()
	case <-ctx.Done():
	}
	p.Stop()
	return errors.Join(err, st.Close())
}

// two are two coordinators and what they work on.
type two struct {
	*sweep   // of the first one's database
	t        *testing.T
	arbiter  string
	address  [2]string
	dir      [2]string
	line     [2]*relay // by which each follows the other
	now      [2]*process
	maxSize  [2]int
	required bool
	die      *death // of the one that is started next
}

func newTwo(t *testing.T, b tunertest.Bundle) *two {
	dir := t.TempDir()
	p := &two{t: t, arbiter: filepath.Join(dir, "arbiter")}
	for i, name := range []string{"a", "b"} {
		p.dir[i], p.address[i] = filepath.Join(dir, name), tunertest.FreeAddress(t)
		if err := os.MkdirAll(p.dir[i], 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(p.arbiter, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range p.line {
		p.line[i] = newRelay(t, p.address[1-i])
	}
	p.sweep = newSweep(t, filepath.Join(p.dir[0], "warptune.db"), b)
	p.address = [2]string{p.sweep.address, p.address[1]}
	p.line[1].to = p.address[0]
	p.book = p.address[0] + "," + p.address[1]
	t.Cleanup(func() {
		for _, c := range p.now {
			if c != nil {
				c.kill()
			}
		}
	})
	return p
}

// start starts one of the two.
func (p *two) start(i int) *process {
	p.t.Helper()
	r := role{Address: p.address[i], Path: p.dir[i], Lease: p.lease, Pair: &pair{Arbiter: p.arbiter, Cut: p.cutFile(i), MaxSize: p.maxSize[i], Required: p.required}}
	if n, _ := standby.FindNode(p.dir[i]); n != nil || i == 1 { // the first makes the record
		r.Pair.Of = p.line[i].address
	}
	r.Die, p.die = p.die, nil
	c, err := r.start(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.now[i] = c
	return c
}

func (p *two) cutFile(i int) string { return p.dir[i] + ".cut" }

// standing waits until the record is as it should be.
func (p *two) standing(is func(r standby.Record) bool) standby.Record {
	p.t.Helper()
	a := standby.Directory(p.arbiter)
	var r standby.Record
	var err error
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if r, err = a.Read(p.t.Context()); err == nil && is(r) {
			return r
		}
	}
	p.t.Fatalf("the record is %s (%v)\n%s", r, err, p.logs())
	return r
}

func (p *two) logs() string {
	text := ""
	for i, c := range p.now {
		if c != nil {
			text += fmt.Sprintf("coordinator %d:\n%s", i, &c.stderr)
		}
	}
	return text
}

// inSync waits until the record names a standby.
func (p *two) inSync() standby.Record {
	p.t.Helper()
	return p.standing(func(r standby.Record) bool { return r.Standby != "" })
}

// lasting is how long an evaluation takes in the storm where a sweep must last until
// much has happened.
const lasting = 60 * time.Millisecond

// dies kills a primary whose standby is to take over: one that is in sync when it is
// dead, since a busy machine may leave it behind at any moment before.
func (p *two) dies(i int) {
	p.t.Helper()
	for {
		p.inSync()
		if p.now[i].kill(); p.inherited(i) {
			return
		}
		p.start(i)
	}
}

// inherited reports whether a primary that is dead has left a standby that may take over.
func (p *two) inherited(i int) bool {
	p.t.Helper()
	r, err := standby.Directory(p.arbiter).Read(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return r.Standby != "" || r.Holder != p.node(i)
}

// node is the name of one of the two.
func (p *two) node(i int) string {
	n, err := standby.FindNode(p.dir[i])
	if err != nil || n == nil {
		p.t.Fatalf("%s is no node (%v)", p.dir[i], err)
	}
	return n.Name
}

// takesOver waits until one of the two serves, and returns how long that takes.
func (p *two) takesOver(i int) time.Duration {
	p.t.Helper()
	began := time.Now()
	for until := began.Add(patience); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if p.now[i].serves() {
			p.move(filepath.Join(p.dir[i], "warptune.db"))
			return time.Since(began)
		}
	}
	p.t.Fatalf("it does not take over\n%s", p.logs())
	return 0
}

// crew starts workers, which are started again when they die.
func (p *two) crew(ctx context.Context, n int) []*supervised {
	var all []*supervised
	for i := range n {
		w := p.worker(fmt.Sprint("w", i))
		all = append(all, supervise(ctx, p.t, p.witness.hear, never, func() (role, []string) { return w, nil }))
	}
	return all
}

// ended waits for the workers to end because nothing is left, and stops both.
func (p *two) ended(crew []*supervised) {
	p.t.Helper()
	late := time.After(patience)
	for _, w := range crew {
		select {
		case <-w.ended:
		case <-late:
			p.t.Fatalf("the sweeps do not end\n%s", p.logs())
		}
	}
	for _, c := range p.now {
		if c != nil {
			c.kill()
		}
	}
}

// relay hands on what comes to an address, unless it is cut.
type relay struct {
	address string
	to      string

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

func newRelay(t *testing.T, to string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{address: l.Addr().String(), to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close(); r.set(true) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go r.carry(c)
		}
	}()
	return r
}

// carry hands on until one side ends. What comes while it is cut is kept, like
// packets of which nobody hears.
func (r *relay) carry(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", r.to)
	if err != nil {
		return
	}
	defer d.Close()
	r.mu.Lock()
	r.open[c], r.open[d] = true, true
	r.mu.Unlock()
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		defer to.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if r.isCut() { // its packets are lost, and so is the connection, of which nobody is told
				_, _ = io.Copy(io.Discard, from)
				return
			}
			if _, e := to.Write(buffer[:n]); e != nil || err != nil {
				return
			}
		}
	}
	both.Go(func() { pass(d, c) })
	both.Go(func() { pass(c, d) })
	both.Wait()
}

func (r *relay) isCut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cut
}

// set cuts the line, or heals it: connections of before are gone then.
func (r *relay) set(cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = cut
	if !cut {
		for c := range r.open {
			_ = c.Close()
		}
		clear(r.open)
	}
}

// cutLines cuts the two from one another, or heals that.
func (p *two) cutLines(cut bool) {
	for _, l := range p.line {
		l.set(cut)
	}
}

// otherSweep submits another sweep beside the first one.
func (p *two) otherSweep(b tunertest.Bundle) *sweep {
	p.t.Helper()
	o := p.other(p.t, b, 2)
	if id := observe(p.t, p.book).submit(p.t, b); id != o.id {
		p.t.Fatalf("the sweep is %s, want %s", id, o.id)
	}
	return o
}

// verdicts are of both sweeps, on the database that is served in the end.
func (p *two) verdicts(second *sweep) {
	p.t.Helper()
	p.verdict(p.t)
	if second != nil {
		second.move(p.path)
		second.verdict(p.t)
	}
}

// The primary is killed in the middle of two sweeps, at any moment, also before, within
// and after a commit. The standby serves within a minute, and both sweeps end with
// their tables, without anything lost that anybody was told; all that was told is
// what one coordinator could say. The old primary does not serve again.
func TestStandbyTakesOver(t *testing.T) {
	for round := range tunertest.Times(2, 20) {
		rng := tunertest.Rand(t)
		p := newTwo(t, tunertest.Bundle{Size: 1200, Batch: 40})
		p.took, p.history = lasting, t.TempDir()
		if round%2 == 1 {
			p.die = &death{Commit: 20 + rng.IntN(40), Stage: []stage{before, within, after}[rng.IntN(3)], Delay: time.Duration(rng.IntN(3000)) * time.Microsecond}
		}
		p.start(0)
		p.start(1)
		second := p.otherSweep(tunertest.Bundle{Size: 900, Salt: 1})
		second.history = p.history
		p.inSync()
		crew := p.crew(t.Context(), 6)
		for at := 100 + rng.IntN(400); round%2 == 0 && len(p.witness.all()) < at; {
			time.Sleep(5 * time.Millisecond)
		}
		if round%2 == 0 {
			p.dies(0)
		}
		select {
		case <-p.now[0].done:
		case <-time.After(patience):
			t.Fatalf("the primary does not die\n%s", p.logs())
		}
		if !p.inherited(0) {
			p.start(0)
			p.dies(0)
		}
		told := len(p.witness.all())
		took := p.takesOver(1)
		t.Logf("the standby serves %v after the primary's death, of which %d results had been acknowledged", took, told)
		if took > time.Minute && tunertest.Times(0, 1) == 1 { // other tests may run beside the short form
			t.Errorf("it takes %v", took)
		}
		if old := p.start(0); p.inSync().Standby != p.node(0) || old.serves() { // it follows
			t.Error("the old primary serves")
		}
		p.calm()
		p.ended(crew)
		p.verdicts(second)
		linearisable(t, p.history, p.sweep)
		refuses(t, p)
	}
}

// refuses starts the old primary as it was started first.
func refuses(t *testing.T, p *two) {
	t.Helper()
	r := role{Address: p.address[0], Path: p.dir[0], Pair: &pair{Arbiter: p.arbiter}}
	c, err := r.start(nil)
	if err != nil {
		t.Fatal(err)
	}
	<-c.done
	if c.cmd.ProcessState.Success() || !strings.Contains(c.stderr.String(), "another coordinator has taken over") {
		t.Errorf("the old primary ends with %v: %s", c.cmd.ProcessState, &c.stderr)
	}
}

// The primary is stopped past its lease and continued: it says nothing any more that
// the standby, which serves by then, does not know, not even what it was asked before.
func TestPrimaryStandsStill(t *testing.T) {
	p := newTwo(t, tunertest.Bundle{Size: 1500, Batch: 40})
	p.took = lasting
	a := p.start(0)
	p.start(1)
	p.inSync()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	crew := p.crew(ctx, 4)
	// One knows the old primary alone, and so asks nobody else.
	loyal := p.worker("loyal")
	loyal.Address = p.address[0]
	only := supervise(ctx, t, p.witness.hear, func(*process) bool { return true }, func() (role, []string) { return loyal, nil })
	for len(p.witness.all()) < 200 {
		time.Sleep(5 * time.Millisecond)
	}
	old := observe(t, p.address[0])
	again(t, func(ctx context.Context) (*warptunev1.GetResponse, error) {
		return old.Get(ctx, &warptunev1.GetRequest{Id: p.id})
	})
	a.halt(t)
	answered := make(chan error, 1)
	go func() { // it lies there when the primary goes on
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := old.Get(ctx, &warptunev1.GetRequest{Id: p.id}, grpc.WaitForReady(true))
		answered <- err
	}()
	p.takesOver(1)
	a.signal(syscall.SIGCONT)
	if err := <-answered; err == nil {
		t.Error("the old primary answers after another serves")
	}
	<-a.done
	if !strings.Contains(a.stderr.String(), "lease") {
		t.Errorf("the old primary does not say why it ends:\n%s", &a.stderr)
	}
	p.now[0] = nil
	p.calm()
	for _, w := range crew {
		<-w.ended
	}
	stop()
	<-only.ended
	p.ended(nil)
	p.verdicts(nil)
}

// The two are cut from one another: the primary goes on alone, and says so, and the
// standby does not take over for as long as it lacks something, though the primary
// dies. It does when it has caught up.
func TestStandbyIsCutOff(t *testing.T) {
	p := newTwo(t, tunertest.Bundle{Size: 5000, Batch: 40})
	p.took = lasting
	p.start(0)
	p.start(1)
	p.inSync()
	crew := p.crew(t.Context(), 4)
	reach := func(n int) {
		t.Helper()
		for until := time.Now().Add(patience); len(p.witness.all()) < n; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(until) {
				t.Fatalf("%d results are acknowledged, want %d\n%s", len(p.witness.all()), n, p.logs())
			}
		}
	}
	reach(100)
	p.cutLines(true)
	p.standing(func(r standby.Record) bool { return r.Standby == "" })
	reach(len(p.witness.all()) + 200) // it goes on
	p.now[0].kill()
	time.Sleep(shortly.TakeOver + 2*time.Second)
	if p.now[1].serves() {
		t.Fatalf("a standby serves that lacks what was acknowledged\n%s", p.logs())
	}
	p.start(0)
	reach(len(p.witness.all()) + 100)
	p.cutLines(false)
	p.inSync()
	reach(len(p.witness.all()) + 100)
	p.dies(0)
	p.takesOver(1)
	p.calm()
	p.ended(crew)
	p.verdicts(nil)
}

// The primary cannot reach the arbiter: it stops answering, and the standby serves.
func TestPrimaryIsCutFromTheArbiter(t *testing.T) {
	p := newTwo(t, tunertest.Bundle{Size: 1200, Batch: 40})
	p.took = lasting
	a := p.start(0)
	p.start(1)
	p.inSync()
	crew := p.crew(t.Context(), 4)
	for len(p.witness.all()) < 100 {
		time.Sleep(5 * time.Millisecond)
	}
	p.inSync()
	touch(t, p.cutFile(0))
	<-a.done
	if p.now[1].serves() {
		t.Error("the standby served before the primary ended")
	}
	p.takesOver(1)
	remove(t, p.cutFile(0))
	p.start(0)
	p.inSync()
	p.calm()
	p.ended(crew)
	p.verdicts(nil)
}

// The standby is killed again and again, and its disk is full for a while, while
// sweeps run; nobody waits for it for long, and in the end it takes over with all.
func TestStandbyDiesAndIsFull(t *testing.T) {
	rng := tunertest.Rand(t)
	p := newTwo(t, tunertest.Bundle{Size: int64(5000 * tunertest.Times(1, 4)), Batch: 40})
	p.took = lasting
	p.start(0)
	p.start(1)
	p.inSync()
	crew := p.crew(t.Context(), 4)
	for range tunertest.Times(3, 30) {
		time.Sleep(time.Duration(rng.IntN(800)) * time.Millisecond)
		p.now[1].kill()
		time.Sleep(time.Duration(rng.IntN(1500)) * time.Millisecond)
		p.start(1)
	}
	p.now[1].kill()
	p.maxSize[1] = 64 << 10
	p.start(1)
	for until := time.Now().Add(patience); !strings.Contains(p.now[0].stderr.String(), "takes no writes"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) { // it takes writes for as long as its file has free pages
			t.Fatalf("the standby's disk does not fill\n%s", p.logs())
		}
	}
	p.standing(func(r standby.Record) bool { return r.Standby == "" })
	before := len(p.witness.all())
	for until := time.Now().Add(patience); len(p.witness.all()) < before+100; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("nothing goes on beside a standby with a full disk\n%s", p.logs())
		}
	}
	if s, err := standby.LastStanding(p.dir[0]); err != nil || s == nil || s.InSync != "" {
		t.Errorf("the primary says %v (%v)", s, err)
	}
	p.now[1].kill()
	p.maxSize[1] = 0
	p.start(1)
	p.dies(0)
	p.takesOver(1)
	p.calm()
	p.ended(crew)
	p.verdicts(nil)
}

// With a standby required nothing is acknowledged without it, and all goes on with it.
func TestStandbyRequired(t *testing.T) {
	p := newTwo(t, tunertest.Bundle{Size: 800, Batch: 40})
	p.took, p.required = lasting, true
	p.start(0)
	crew := p.crew(t.Context(), 2)
	time.Sleep(2 * time.Second)
	if n := len(p.witness.all()); n > 0 {
		t.Errorf("%d results are acknowledged without a standby", n)
	}
	p.start(1)
	for until := time.Now().Add(patience); len(p.witness.all()) < 100; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("nothing is acknowledged with a standby\n%s", p.logs())
		}
	}
	p.now[1].kill()
	told, calm := len(p.witness.all()), 0
	for calm < 4 { // what it had acknowledged is heard for a while
		time.Sleep(500 * time.Millisecond)
		now := len(p.witness.all())
		if calm++; now > told {
			told, calm = now, 0
		}
	}
	if told == 800 {
		t.Error("the sweep goes on without the standby")
	}
	p.start(1)
	p.inSync()
	p.required = false // the one that is left serves alone
	p.now[1].kill()
	p.start(1)
	p.dies(0)
	p.takesOver(1)
	p.calm()
	p.ended(crew)
	p.verdicts(nil)
}
