package standby

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store"
)

// scene runs a test on two nodes of which the second has everything acknowledged.
func scene(t *testing.T, f func(w *world, a, b *node)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir())
		for _, n := range w.nodes {
			n.start()
			time.Sleep(5 * time.Second)
		}
		if r := w.now(); r.Standby == "" {
			t.Fatalf("the second node is not in sync: %s", r)
		}
		f(w, w.nodes[0], w.nodes[1])
		time.Sleep(20 * time.Second)
		w.verdict()
	})
}

func (w *world) now() Record {
	w.record.mu.Lock()
	defer w.record.mu.Unlock()
	return w.record.record
}

// ackedBy returns how many writes of a node were acknowledged.
func (w *world) ackedBy(n *node) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := 0
	for what := range w.acked {
		if what[0] == n.name[0] {
			count++
		}
	}
	return count
}

// served returns how long it takes until a node serves.
func (w *world) served(n *node, within time.Duration) time.Duration {
	w.t.Helper()
	began := time.Now()
	for time.Since(began) < within {
		if w.primary(nil) == n {
			return time.Since(began)
		}
		time.Sleep(100 * time.Millisecond)
	}
	w.t.Fatalf("%s does not serve within %v: the record is %s\n%s", n.name, within, w.now(), &w.log.text)
	return 0
}

// The primary dies, and the standby serves within a minute, with everything that was
// acknowledged; the old one, which was not told of another, refuses to serve.
func TestTakesOver(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		a.kill()
		took := w.served(b, time.Minute)
		t.Logf("the standby served %v after its primary's death", took)
		if took < Usual.TakeOver-Usual.Renew {
			t.Errorf("the lease had not run out after %v", took)
		}
		if _, _, err := Lead(context.Background(), Config{Dir: b.dir, Arbiter: &w.record, Timing: Usual}); tuner.KindOf(err) != tuner.Locked {
			t.Errorf("a second process is the same node: %v", err)
		}
		own, _ := FindNode(a.dir)
		if _, _, err := Lead(context.Background(), Config{Dir: a.dir, Arbiter: &w.record, Timing: Usual}); !errors.Is(err, ErrTakenOver) {
			t.Errorf("the old primary is started again: %v", err)
		}
		if !has(own.Database()) {
			t.Error("its database has gone")
		}
		a.start()
	})
}

// A standby that is cut off holds nobody up for longer than it may; it does not take
// over then, whatever becomes of the primary, and does when it has caught up.
func TestGoesOnAlone(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		a.cut.Store(true)
		b.cut.Store(true)
		time.Sleep(Usual.Wait + 2*time.Second)
		before := w.ackedBy(a)
		time.Sleep(20 * time.Second)
		if now := w.ackedBy(a); now < before+20 {
			t.Errorf("%d writes are acknowledged in 20 s without the standby", now-before)
		}
		if r := w.now(); r.Standby != "" {
			t.Errorf("the record names a standby that lacks writes: %s", r)
		}
		a.kill()
		a.cut.Store(false)
		b.cut.Store(false)
		time.Sleep(3 * time.Minute)
		if n := w.primary(nil); n != nil {
			t.Fatalf("%s serves without what was acknowledged", n.name)
		}
		if _, err := Promote(context.Background(), b.dir, &w.record, store.OpenOptions{AnyFileSystem: true}, false); err == nil {
			t.Error("it is promoted, and nobody has accepted the loss")
		}
		a.start()
		w.served(a, 10*time.Second)
		time.Sleep(20 * time.Second)
		a.kill()
		w.served(b, time.Minute)
		a.start()
	})
}

// A cut of the primary from the arbiter alone: the standby takes over, and the old
// primary has stopped answering before.
func TestCutFromTheArbiter(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		old := a.primary
		a.parts.Store(true)
		for w.primary(nil) != b {
			if old.keeper.Valid() == nil && w.now().Holder != old.node {
				t.Fatal("the old primary answers after another has the lease")
			}
			time.Sleep(50 * time.Millisecond)
		}
		a.parts.Store(false)
	})
}

// By command the standby takes over at once, and the primary, which is well, ends and
// follows.
func TestPromoted(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		if _, err := Promote(context.Background(), b.dir, &w.record, store.OpenOptions{AnyFileSystem: true}, false); err != nil {
			t.Fatal(err)
		}
		w.served(b, 10*time.Second)
		time.Sleep(20 * time.Second)
		if own, _ := FindNode(a.dir); w.now().Standby != own.Name {
			t.Errorf("the old primary does not follow: %s", w.now())
		}
	})
}

// Of two new nodes that are told to follow one another none serves, until somebody says
// who begins.
func TestWhoBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir())
		for _, n := range w.nodes {
			n.follows = true
			n.start()
		}
		time.Sleep(time.Minute)
		if n := w.primary(nil); n != nil || w.now().Term > 0 {
			t.Fatalf("%v serves, by nobody's word; the record is %s", n, w.now())
		}
		for _, n := range w.nodes[:1] {
			if _, err := Promote(context.Background(), n.dir, &w.record, store.OpenOptions{AnyFileSystem: true}, false); err != nil {
				t.Fatal(err)
			}
			w.served(n, 10*time.Second)
		}
		time.Sleep(20 * time.Second)
		w.verdict()
	})
}

// A node whose record has gone does not begin anew by itself: the arbiter's volume may
// not be there.
func TestRecordThatIsGone(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		a.kill()
		b.kill()
		record := w.now()
		w.record.record = Record{}
		for _, n := range w.nodes {
			n.start()
		}
		time.Sleep(time.Minute)
		a.parts.Store(true) // nor when it cannot be asked
		time.Sleep(time.Minute)
		a.parts.Store(false)
		if n := w.primary(nil); n != nil || w.now().Term > 0 {
			t.Errorf("%s serves without a record", n.name)
		}
		options := store.OpenOptions{AnyFileSystem: true}
		if _, err := Promote(context.Background(), b.dir, &w.record, options, false); err == nil {
			t.Error("a copy is promoted, of which nobody knows what it lacks")
		}
		w.record.mu.Lock()
		w.record.record = record
		w.record.mu.Unlock()
		w.served(a, 30*time.Second)
	})
}

// A standby that dies and comes back catches up; one that has lost its disk is another
// one, and catches up too.
func TestStandbyComesBack(t *testing.T) {
	scene(t, func(w *world, a, b *node) {
		for _, away := range []time.Duration{time.Second, 90 * time.Second} {
			b.kill()
			time.Sleep(away)
			b.start()
			time.Sleep(20 * time.Second)
			if r := w.now(); r.Standby == "" {
				t.Errorf("%v after it was away it is not in sync: %s", 20*time.Second, r)
			}
		}
		b.kill()
		b.dir += "-new"
		b.start()
		time.Sleep(30 * time.Second)
		if own, _ := FindNode(b.dir); w.now().Standby != own.Name {
			t.Errorf("the new standby is not in sync: %s", w.now())
		}
	})
}

// What a standby cannot store it says at once, and nobody waits for it.
func TestStandbyThatCannotStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, t.TempDir())
		a, b := w.nodes[0], w.nodes[1]
		b.most = 1 << 20
		for _, n := range w.nodes {
			n.start()
			time.Sleep(5 * time.Second)
		}
		if w.now().Standby == "" {
			t.Fatalf("it is not in sync: %s", w.now())
		}
		began := time.Now()
		if _, err := a.primary.PutBundle("large", make([]byte, 2<<20), tuner.Act{What: tuner.ActPutBundle}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > Usual.Wait {
			t.Errorf("a write took %v", took)
		}
		time.Sleep(20 * time.Second)
		if s := a.primary.Standing(); s.InSync != "" || s.Problem == "" {
			t.Errorf("it stands %+v", s)
		}
		a.kill()
		time.Sleep(2 * time.Minute)
		if w.primary(nil) != nil {
			t.Error("a standby without what was acknowledged serves")
		}
		a.start()
		b.kill()
		b.most = 0
		b.start()
		time.Sleep(20 * time.Second)
		w.verdict()
	})
}
