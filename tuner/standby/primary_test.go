package standby

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// alone is a primary whose standby a test plays.
type alone struct {
	*Primary
	arbiter Arbiter
	written chan error // one for each write that has returned
	writes  int
}

func newAlone(t *testing.T, a Arbiter) *alone {
	t.Helper()
	k, err := Hold(t.Context(), a, Record{}, "a", Usual, nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(filepath.Join(t.TempDir(), served), store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = k.Run(ctx) }()
	p := &alone{NewPrimary(st, k, Usual, nil), a, make(chan error, 100), 0}
	t.Cleanup(func() {
		p.Stop()
		stop()
		<-ended
		_ = st.Close()
	})
	return p
}

// begin begins a write.
func (p *alone) begin() {
	p.writes++
	what := fmt.Sprint("write ", p.writes)
	go func() {
		_, err := p.PutBundle(what, []byte(what), tuner.Act{What: tuner.ActPutBundle})
		p.written <- err
	}()
	synctest.Wait()
}

// returned is how many writes have returned since it was asked last.
func (p *alone) returned(t *testing.T) (n int) {
	t.Helper()
	synctest.Wait()
	for {
		select {
		case err := <-p.written:
			if err != nil {
				t.Fatal(err)
			}
			n++
		default:
			return n
		}
	}
}

func (p *alone) connected(t *testing.T, name string, number uint64) *follower {
	t.Helper()
	f := &follower{node: name}
	if _, _, err := p.connect(f, p.name, number); err != nil {
		t.Fatal(err)
	}
	return f
}

// has plays that a standby has a write on disk.
func (p *alone) has(f *follower, number uint64) {
	p.acknowledge(f, number, "")
	time.Sleep(time.Millisecond)
	synctest.Wait()
}

func (p *alone) names() string {
	r, _ := p.arbiter.Read(context.Background())
	return r.Standby
}

// While the record names a standby, or may, no write returns that it does not have; it
// is named when it has every write that returned without it.
func TestWritesWaitForTheStandby(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAlone(t, &memory{})
		for range 3 {
			p.begin()
		}
		if n := p.returned(t); n != 3 {
			t.Fatalf("%d of 3 writes return when there is no standby", n)
		}
		f := p.connected(t, "b", 0)
		p.has(f, 1)
		if got := p.names(); got != "" {
			t.Errorf("the record names %q, which lacks two writes", got)
		}
		p.begin() // it is nearly there: from now on writes wait
		p.has(f, 3)
		if n := p.returned(t); n != 0 || p.names() != "b" {
			t.Errorf("%d writes return that the standby lacks; the record names %q, want b", n, p.names())
		}
		p.has(f, 4)
		if n := p.returned(t); n != 1 {
			t.Errorf("%d writes return, want one", n)
		}
		p.begin()
		time.Sleep(Usual.Wait - 100*time.Millisecond)
		if n := p.returned(t); n != 0 {
			t.Error("a write returns that the standby lacks, and the record names it")
		}
		time.Sleep(200 * time.Millisecond)
		if n := p.returned(t); n != 1 || p.names() != "" {
			t.Errorf("%d writes return when the standby is late; the record names %q", n, p.names())
		}
	})
}

// Another standby is followed by nobody's word but the record's: as long as that may
// name one, no other's acknowledgements count.
func TestOneStandbyAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAlone(t, &memory{})
		b := p.connected(t, "b", 0)
		p.has(b, 0)
		if p.names() != "b" {
			t.Fatalf("the record names %q", p.names())
		}
		if _, _, err := p.connect(&follower{node: "c"}, p.name, 0); tuner.KindOf(err) != tuner.Conflict {
			t.Errorf("a second one is taken: %v", err)
		}
		p.part(b, errors.New("gone"))
		p.begin()
		if _, _, err := p.connect(&follower{node: "c"}, p.name, 1); tuner.KindOf(err) != tuner.Unavailable {
			t.Errorf("another is taken while the record names the first: %v", err)
		}
		time.Sleep(time.Second)
		if got := p.names(); got != "" {
			t.Errorf("the record names %q", got)
		}
		c := p.connected(t, "c", 1)
		p.has(c, 1)
		time.Sleep(lostAfter(Usual))
		p.has(c, 1)
		if n := p.returned(t); n != 1 || p.names() != "c" {
			t.Errorf("%d writes returned; the record names %q, want c", n, p.names())
		}
	})
}

// late is an arbiter whose swaps seem to fail, and are done a while later.
type late struct {
	memory
	by atomic.Int64 // nanoseconds
}

func (l *late) Swap(ctx context.Context, old, next Record) (bool, error) {
	by := time.Duration(l.by.Load())
	if by == 0 {
		return l.memory.Swap(ctx, old, next)
	}
	time.AfterFunc(by, func() { _, _ = l.memory.Swap(ctx, old, next) })
	return false, errCut
}

func (l *late) Create(ctx context.Context, first Record) (bool, error) {
	return l.memory.Swap(ctx, Record{}, first)
}

// As long as the record cannot be made to name no standby, no write returns that the
// standby lacks, however late that is.
func TestGoesOnAloneByTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &late{}
		p := newAlone(t, a)
		b := p.connected(t, "b", 0)
		p.has(b, 0)
		a.by.Store(int64(100 * 24 * time.Hour)) // never, that is
		p.begin()
		time.Sleep(Usual.Wait + Usual.Renew + time.Second)
		if n := p.returned(t); n != 0 || p.names() != "b" {
			t.Errorf("%d writes return that the standby lacks, and the record names %q", n, p.names())
		}
		a.by.Store(0)
		time.Sleep(Usual.Renew)
		if n := p.returned(t); n != 1 || p.names() != "" {
			t.Errorf("%d writes return, and the record names %q", n, p.names())
		}
	})
}

// When it is unknown whether the record names a standby, it is taken to do so.
func TestRecordInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &late{}
		p := newAlone(t, a)
		time.Sleep(100 * time.Millisecond)
		a.by.Store(int64(3 * time.Second))
		b := p.connected(t, "b", 0)
		p.has(b, 0)
		p.begin()
		time.Sleep(Usual.Wait + 500*time.Millisecond) // it is late, and to be named no more
		if n := p.returned(t); n != 0 {
			t.Error("a write returns that the standby lacks, while the record may come to name it")
		}
		time.Sleep(time.Second)
		a.by.Store(0)
		time.Sleep(Usual.Renew)
		if n := p.returned(t); n != 1 || p.names() != "" {
			t.Errorf("%d writes return, and the record names %q", n, p.names())
		}
	})
}

// A primary whose lease another has taken acknowledges nothing, and ends.
func TestLeaseTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &memory{}
		p := newAlone(t, a)
		b := p.connected(t, "b", 0)
		p.has(b, 0)
		a.mu.Lock()
		a.record = Record{a.record.Term + 1, "b", "", "other"}
		a.mu.Unlock()
		p.begin()
		time.Sleep(Usual.Lease)
		if err := <-p.written; !errors.Is(err, ErrTakenOver) {
			t.Errorf("a write returns %v", err)
		}
		if err := p.keeper.Valid(); !errors.Is(err, ErrTakenOver) {
			t.Errorf("the lease is held: %v", err)
		}
	})
}

// A copy of a primary that does not hold the lease any more is not taken in the place of
// the one that there is.
func TestCopyOfAnOldPrimary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newAlone(t, &memory{})
		l := bufconn.Listen(64 << 10)
		server := grpc.NewServer()
		Register(server, p.Primary)
		go func() { _ = server.Serve(l) }()
		defer server.Stop()
		w := newWorld(t, t.TempDir())
		w.nodes[0].listener = l
		conn := w.nodes[1].dial()
		defer conn.Close()
		own, err := MakeNode(filepath.Join(t.TempDir(), "b"))
		if err != nil {
			t.Fatal(err)
		}
		another := &memory{record: Record{9, "c", "", "other"}}
		f := NewFollower(own, conn, another, Usual, store.OpenOptions{AnyFileSystem: true}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f.follow(ctx)
		if has(own.Copy()) {
			t.Error("it is taken")
		}
		f.arbiter = p.arbiter
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f.follow(ctx)
		if err := f.close(); err != nil || !has(own.Copy()) {
			t.Errorf("the lease holder's is not taken (%v)", err)
		}
		if left, _ := filepath.Glob(own.Copy() + ".partial*"); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// A directory's record is one that two cannot both swap; what is no record is said.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	if _, err := Directory(filepath.Join(dir, "none")).Read(t.Context()); tuner.KindOf(err) != tuner.NotFound {
		t.Errorf("a directory that is not there: %v", err)
	}
	a := Directory(dir)
	arbiters(t, a)
	if err := os.RemoveAll(filepath.Join(dir, recordDir)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, recordDir, "1.a.b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Read(t.Context()); tuner.KindOf(err) != tuner.Damaged {
		t.Errorf("a directory without a record: %v", err)
	}
}

// arbiters is the contract of an arbiter that has no record.
func arbiters(t *testing.T, a Arbiter) {
	t.Helper()
	ctx := t.Context()
	if r, err := a.Read(ctx); err != nil || r != (Record{}) {
		t.Fatalf("at first it reads %s, %v", r, err)
	}
	first := Record{1, "a_1", "", "p"}
	type result struct {
		done bool
		err  error
	}
	both := func(of func(n int) (bool, error)) {
		t.Helper()
		results := make(chan result, 8)
		for n := range cap(results) {
			go func() {
				done, err := of(n)
				results <- result{done, err}
			}()
		}
		won := 0
		for range cap(results) {
			r := <-results
			if r.err != nil {
				t.Error(r.err)
			}
			if r.done {
				won++
			}
		}
		if won != 1 {
			t.Fatalf("%d of 8 swap one record", won)
		}
	}
	both(func(n int) (bool, error) { return a.Create(ctx, Record{1, first.Holder, "", fmt.Sprint("p", n)}) })
	now, err := a.Read(ctx)
	if err != nil || now.Holder != "a_1" {
		t.Fatalf("it reads %s, %v", now, err)
	}
	for range 5 {
		old := now
		both(func(n int) (bool, error) {
			return a.Swap(ctx, old, Record{old.Term + 1, fmt.Sprint("n-", n), "b", "p"})
		})
		if now, err = a.Read(ctx); err != nil || now.Term != old.Term+1 || now.Standby != "b" {
			t.Fatalf("it reads %s, %v", now, err)
		}
		if done, err := a.Swap(ctx, old, Record{old.Term + 1, "late", "", "p"}); done || err != nil {
			t.Errorf("an old record is swapped: %v, %v", done, err)
		}
	}
	if done, err := a.Create(ctx, first); done || err != nil {
		t.Errorf("a second first record is made: %v, %v", done, err)
	}
}

func TestRecords(t *testing.T) {
	for _, r := range []Record{{1, "a", "", "p"}, {18446744073709551615, "host-1_x7", "host-2_y", "ABC"}} {
		if got, ok := ParseRecord(r.String()); !ok || got != r {
			t.Errorf("%s is read as %s, %v", r, got, ok)
		}
	}
	for _, text := range []string{"", "1.a.b", "0.a.-.p", "1.-.-.p", "1..-.p", "1.a.-.p.q", "01.a.-.p", "1.a b.-.p", "1.a.-.p\n", "x.a.-.p"} {
		if got, ok := ParseRecord(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
	if name := newNode(); !isName(name) {
		t.Errorf("a node is called %q", name)
	}
}

// A program keeps the record; what it cannot say is an error, not a yes or no.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keep")
	script := `#!/bin/sh
cd "` + dir + `" || exit 2
exec 9>lock; flock 9 || exit 2
case $1 in
read) cat record 2>/dev/null; exit 0;;
create) [ -e record ] && exit 1; echo "$2" >record;;
swap) [ "$(cat record)" = "$2" ] || exit 1; echo "$3" >record;;
esac
`
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	arbiters(t, Command(path))
	for _, bad := range []string{"exit 3", "echo nonsense", "kill -9 $$", "exit 1"} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+bad+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if r, err := Command(path).Read(t.Context()); err == nil {
			t.Errorf("%s: it reads %s", bad, r)
		}
		if done, err := Command(path).Swap(t.Context(), Record{1, "a", "", "p"}, Record{2, "a", "", "p"}); (err == nil) != (bad == "exit 1" || bad == "echo nonsense") || done && bad != "echo nonsense" {
			t.Errorf("%s: it swaps: %v, %v", bad, done, err)
		}
	}
}

// Whatever a store can do is done to the standby's too, or changes nothing: a method
// that comes to be is looked at here.
func TestEveryWriteIsSent(t *testing.T) {
	sent := map[string]bool{"Begin": true, "Commit": true, "PutBundle": true, "Remove": true, "Compact": true, "DropBundles": true}
	reads := map[string]bool{
		"ID": true, "Numbers": true, "Sweeps": true, "SalvageSweeps": true, "Leases": true, "Results": true, "Salvage": true, "Answer": true, "Digested": true, "Best": true, "Bests": true,
		"Bundle": true, "Acts": true, "BundleSizes": true, "Backup": true, "Close": true,
	}
	all := reflect.TypeFor[store.Store]()
	for i := range all.NumMethod() {
		if name := all.Method(i).Name; !sent[name] && !reads[name] {
			t.Errorf("store.Store has %s: if it writes, Primary must send it to the standby", name)
		}
	}
}

// slow is an arbiter of which another's swap comes between.
type slow struct {
	memory
	by *Record // put in place before the next swap; nil: nothing
}

func (s *slow) Swap(ctx context.Context, old, next Record) (bool, error) {
	if s.by != nil {
		s.record, s.by = *s.by, nil
	}
	return s.memory.Swap(ctx, old, next)
}

// A standby that looks at the record, and swaps it after its primary has renewed it,
// does not take over.
func TestSlowTakeover(t *testing.T) {
	own, err := MakeNode(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	options := store.OpenOptions{AnyFileSystem: true}
	st, err := store.Open(own.Copy(), options)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	now := Record{7, "a", own.Name, "p"}
	renewed := Record{8, "a", "", "p"}
	a := &slow{memory: memory{record: now}, by: &renewed}
	f := NewFollower(own, nil, a, Usual, options, nil)
	if r, err := f.takeOver(t.Context(), now); err == nil {
		t.Errorf("it takes over: %s, and the record is %s", r, a.record)
	}
	a.record = now
	if r, err := f.takeOver(t.Context(), now); err != nil || a.record != r || r.Holder != own.Name {
		t.Errorf("it does not take over: %s, %v", a.record, err)
	}
}
