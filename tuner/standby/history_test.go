package standby

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// world is two nodes, an arbiter, and what happens to them, in virtual time.
type world struct {
	t      *testing.T
	record memory
	nodes  [2]*node
	log    journal
	serial atomic.Int64

	mu     sync.Mutex
	acked  map[string]time.Time // writes that were acknowledged, and when
	serves map[string]int       // how often each node came to serve
}

// node is one of the two: a process that is started again when it ends.
type node struct {
	w       *world
	name    string
	dir     string
	peer    *node
	timing  Timing
	follows bool // it has the other's address
	most    int  // bytes of its database; 0: any

	cut   atomic.Bool // nothing passes between the two any more, on lines that are open
	parts atomic.Bool // the arbiter does not answer it
	hangs atomic.Bool // the arbiter answers that it failed, does it nevertheless, and later

	mu       sync.Mutex
	listener *bufconn.Listener // while it serves
	primary  *Primary          // while it serves
	kill     func()
	dead     chan struct{} // closed when it has ended
}

func newWorld(t *testing.T, dir string) *world {
	w := &world{t: t, acked: map[string]time.Time{}, serves: map[string]int{}}
	for i, name := range []string{"a", "b"} {
		w.nodes[i] = &node{w: w, name: name, dir: filepath.Join(dir, name), timing: Usual, follows: i > 0}
	}
	w.nodes[0].peer, w.nodes[1].peer = w.nodes[1], w.nodes[0]
	t.Cleanup(func() { // virtual time would go on for ever
		for _, n := range w.nodes {
			if n.kill != nil {
				n.kill()
			}
		}
	})
	return w
}

// start starts a node's process.
func (n *node) start() {
	ctx, cancel := context.WithCancel(context.Background())
	killed := &atomic.Bool{}
	dead := make(chan struct{})
	n.mu.Lock()
	n.kill = func() { killed.Store(true); cancel(); <-dead }
	n.dead = dead
	n.mu.Unlock()
	go func() {
		defer close(dead)
		for ctx.Err() == nil {
			if err := n.live(ctx, killed); err != nil && ctx.Err() == nil {
				n.w.log.note("%s ended: %v", n.name, err)
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		}
	}()
}

// live is one process: it follows, serves, and ends.
func (n *node) live(ctx context.Context, killed *atomic.Bool) error {
	conn := n.dial()
	defer conn.Close()
	log := hclog.New(&hclog.LoggerOptions{Name: n.name, Output: &n.w.log, TimeFn: time.Now})
	c := Config{Dir: n.dir, Arbiter: cutting{n}, Timing: n.timing, Log: log, Options: store.OpenOptions{AnyFileSystem: true, MaxSize: n.most}}
	if n.follows {
		c.Conn = conn
	}
	k, own, err := Lead(ctx, c)
	if err != nil {
		return err
	}
	n.follows = true
	defer func() { _ = own.Close() }()
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { _ = k.Run(keeping) })
	st, err := store.Open(own.Database(), c.Options)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	p := NewPrimary(st, k, n.timing, log)
	server := grpc.NewServer(Gate(k)...)
	Register(server, p)
	l := bufconn.Listen(64 << 10)
	all.Go(func() { _ = server.Serve(l) })
	n.serving(l, p)
	defer n.serving(nil, nil)
	var writing sync.WaitGroup
	for range 2 {
		writing.Go(func() { n.write(ctx, p, killed) })
	}
	select {
	case <-ctx.Done():
	case <-k.Lost():
	}
	p.Stop()
	server.Stop()
	writing.Wait()
	return k.Valid()
}

func (n *node) serving(l *bufconn.Listener, p *Primary) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listener, n.primary = l, p
	if p != nil {
		n.w.mu.Lock()
		defer n.w.mu.Unlock()
		n.w.serves[n.name]++
	}
}

// write writes and writes, and notes what is acknowledged.
func (n *node) write(ctx context.Context, p *Primary, killed *atomic.Bool) {
	for ctx.Err() == nil && p.keeper.Valid() == nil {
		what := fmt.Sprintf("%s-%d", n.name, n.w.serial.Add(1))
		if _, err := p.PutBundle(what, []byte(what), tuner.Act{What: tuner.ActPutBundle}); err == nil && !killed.Load() {
			n.w.mu.Lock()
			n.w.acked[what] = time.Now()
			n.w.mu.Unlock()
		}
		time.Sleep(time.Second)
	}
}

// dial connects to the other node, when it serves.
func (n *node) dial() *grpc.ClientConn {
	conn, err := grpc.NewClient("passthrough:///peer", append(rpc.ClientOptions(nil), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		n.peer.mu.Lock()
		l := n.peer.listener
		n.peer.mu.Unlock()
		if n.cut.Load() {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if l == nil {
			return nil, fmt.Errorf("nobody listens")
		}
		c, err := l.DialContext(ctx)
		if err != nil {
			return nil, err
		}
		return &line{Conn: c, cut: &n.cut, closed: make(chan struct{})}, nil
	}))...)
	if err != nil {
		n.w.t.Fatal(err)
	}
	return conn
}

// line is a connection through which nothing passes any more once it was cut.
type line struct {
	net.Conn
	cut    *atomic.Bool
	lost   atomic.Bool
	once   sync.Once
	closed chan struct{}
}

func (l *line) Write(b []byte) (int, error) {
	if l.cut.Load() || l.lost.Load() {
		l.lost.Store(true)
		return len(b), nil
	}
	return l.Conn.Write(b)
}

func (l *line) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if l.cut.Load() || l.lost.Load() {
		l.lost.Store(true)
		<-l.closed
		return 0, net.ErrClosed
	}
	return n, err
}

func (l *line) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Conn.Close()
}

// memory is an arbiter.
type memory struct {
	mu     sync.Mutex
	record Record
}

func (m *memory) Read(context.Context) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record, nil
}

func (m *memory) Create(ctx context.Context, first Record) (bool, error) {
	return m.Swap(ctx, Record{}, first)
}

func (m *memory) Swap(_ context.Context, old, next Record) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record != old {
		return false, nil
	}
	m.record = next
	return true, nil
}

// cutting is the arbiter as a node sees it.
type cutting struct{ n *node }

var errCut = tuner.Errorf(tuner.Unavailable, "", "the arbiter does not answer")

func (c cutting) Read(ctx context.Context) (Record, error) {
	if c.n.parts.Load() {
		return Record{}, errCut
	}
	return c.n.w.record.Read(ctx)
}

func (c cutting) Create(ctx context.Context, first Record) (bool, error) {
	return c.Swap(ctx, Record{}, first)
}

func (c cutting) Swap(ctx context.Context, old, next Record) (bool, error) {
	switch {
	case c.n.parts.Load():
		return false, errCut
	case c.n.hangs.Load(): // it is done, but later
		time.AfterFunc(3*time.Second, func() { _, _ = c.n.w.record.Swap(context.Background(), old, next) })
		return false, errCut
	}
	return c.n.w.record.Swap(ctx, old, next)
}

// journal keeps what happened, for a test that fails.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fmt.Fprintf(&j.text, "%s "+format+"\n", append([]any{time.Now().Format("15:04:05.000")}, args...)...)
}

// befall has something happen to a node, and returns what undoes it.
func (n *node) befall(rng *rand.Rand) (what string, undo func()) {
	set := func(b ...*atomic.Bool) func() {
		for _, one := range b {
			one.Store(true)
		}
		return func() {
			for _, one := range b {
				one.Store(false)
			}
		}
	}
	switch rng.IntN(8) {
	case 7: // by command; refused, unless the other has everything
		_, err := Promote(context.Background(), n.peer.dir, cutting{n.peer}, store.OpenOptions{AnyFileSystem: true}, false)
		return fmt.Sprintf("to hand over to the other (%v)", err), func() {}
	case 0, 1:
		n.kill()
		return "killed", n.start
	case 6: // what is written meanwhile the other does not have
		heal := set(&n.cut, &n.peer.cut)
		time.Sleep(time.Duration(rng.IntN(3000)) * time.Millisecond)
		n.kill()
		return "cut from the other and then killed", func() { heal(); n.start() }
	case 2: // the line between the two, whoever follows
		return "cut from the other", set(&n.cut, &n.peer.cut)
	case 3:
		return "cut from the arbiter", set(&n.parts)
	case 4:
		return "cut from both", set(&n.parts, &n.cut, &n.peer.cut)
	}
	return "in doubt about the arbiter", set(&n.hangs)
}

// Whatever happens to two nodes, and for how long, the one that serves in the end has
// every write that was acknowledged; and when all is well again, both go on.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	rng := tunertest.Rand(t)
	served, writes := 0, 0
	for range tunertest.Times(5, 300) {
		seed := rng.Uint64()
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, t.TempDir())
			w.history(rand.New(rand.NewPCG(seed, 1)))
			served += w.serves["b"]
			writes += len(w.acked)
		})
	}
	t.Logf("%d writes were acknowledged; the second node came to serve %d times", writes, served)
	if served == 0 {
		t.Error("the second node never served: nothing was tested")
	}
}

func (w *world) history(rng *rand.Rand) {
	for _, n := range w.nodes {
		n.start()
		time.Sleep(5 * time.Second)
	}
	for range 6 {
		var undo []func()
		for range 1 + rng.IntN(2) {
			n := w.nodes[rng.IntN(2)]
			if rng.IntN(2) == 0 {
				n = w.primary(n)
			}
			select {
			case <-n.dead: // it is killed already
				continue
			default:
			}
			what, heal := n.befall(rng)
			w.log.note("%s is %s", n.name, what)
			undo = append(undo, heal)
			time.Sleep(time.Duration(rng.IntN(40_000)) * time.Millisecond)
		}
		for _, heal := range undo {
			heal()
			time.Sleep(time.Duration(rng.IntN(10_000)) * time.Millisecond)
		}
		w.log.note("all is healed")
		time.Sleep(time.Duration(rng.IntN(30_000)) * time.Millisecond)
	}
	time.Sleep(90 * time.Second)
	w.verdict()
}

// primary returns the node that serves; n: none does.
func (w *world) primary(n *node) *node {
	for _, other := range w.nodes {
		other.mu.Lock()
		serves := other.primary != nil
		other.mu.Unlock()
		if serves {
			return other
		}
	}
	return n
}

// verdict ends both nodes, and looks at what they have.
func (w *world) verdict() {
	w.t.Helper()
	now := time.Now()
	r, _ := w.record.Read(context.Background())
	w.log.note("the end: %s", r)
	for _, n := range w.nodes {
		n.kill()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	lately := 0
	for _, at := range w.acked {
		if now.Sub(at) < 10*time.Second {
			lately++
		}
	}
	if lately == 0 || r.Standby == "" {
		w.t.Errorf("when all is well nothing goes on: %d writes are acknowledged within ten seconds, the record is %s", lately, r)
	}
	for _, n := range w.nodes {
		own, err := FindNode(n.dir)
		if err != nil || own == nil {
			w.t.Fatalf("%s: %v", n.name, err)
		}
		path := own.Database()
		if own.Name != r.Holder {
			path = own.Copy()
		}
		found, err := store.Check(path)
		if err != nil || len(found.Problems) > 0 {
			w.t.Fatalf("%s: %+v (%v)", path, found, err)
		}
		st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true, Existing: true})
		if err != nil {
			w.t.Fatal(err)
		}
		has, err := st.BundleSizes()
		if err != nil {
			w.t.Error(err)
		}
		if err := st.Close(); err != nil {
			w.t.Error(err)
		}
		lost := 0
		for what := range w.acked {
			if _, is := has[what]; !is {
				lost++
			}
		}
		if lost > 0 && (own.Name == r.Holder || r.Standby == own.Name) {
			w.t.Errorf("%s, of the record %s, has lost %d of %d writes that were acknowledged", n.name, r, lost, len(w.acked))
		}
	}
	if w.t.Failed() {
		w.t.Log(w.log.text.String())
	}
}
