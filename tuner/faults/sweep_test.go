package faults

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/export"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// sweep is a sweep in a store that processes work on.
type sweep struct {
	bundle  tunertest.Bundle
	id      string
	num     uint64   // in its store
	path    string   // of the store; under mu, since a power cut moves it
	address string   // of the coordinator
	book    string   // where workers are told to find it; "": at address
	inside  []string // the command line that all processes run under
	storm   string   // the file that lasts as long as the faults do
	witness *witness
	lease   time.Duration
	took    time.Duration // by each evaluation in the storm
	crash   int64         // configurations that end and stop who evaluates them; -1: none
	freeze  int64
	history string // a folder for what workers say and hear; "": none
	full    string // while this file exists workers fail at everything; "": never
	mu      sync.Mutex
}

// slowly is how long evaluations take in a storm that a sweep must not outrun on
// a machine with much else to do.
const slowly = 200 * time.Millisecond

// newSweep submits a sweep to a new store at path.
func newSweep(t *testing.T, path string, b tunertest.Bundle) *sweep {
	t.Helper()
	st := open(t, path)
	c, stop := serve(t, st)
	submit(t, c, b)
	stop()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return storedSweep(t, path, b, 1)
}

// storedSweep is a sweep that is in the store at path.
func storedSweep(t *testing.T, path string, b tunertest.Bundle, num uint64) *sweep {
	t.Helper()
	spec := b.Spec("test")
	s := &sweep{
		bundle: b, id: spec.ID(""), num: num, path: path, address: tunertest.FreeAddress(t),
		storm: filepath.Join(t.TempDir(), "storm"), witness: &witness{recorded: map[trial]int{}},
		lease: time.Second, took: 50 * time.Millisecond, crash: -1, freeze: -1,
	}
	if err := os.WriteFile(s.storm, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// calm ends the storm.
func (s *sweep) calm() { _ = os.Remove(s.storm) }

// coordinator is the role of the sweep's coordinator.
func (s *sweep) coordinator() role {
	s.mu.Lock()
	defer s.mu.Unlock()
	return role{Address: s.address, Path: s.path, Lease: s.lease}
}

// move has the next coordinator use the store at another path.
func (s *sweep) move(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.path = path
}

// worker is the role of a worker.
func (s *sweep) worker(name string) role {
	return role{Worker: name, Address: cmp.Or(s.book, s.address), Slots: 2, Took: s.took, Storm: s.storm, Crash: s.crash, Freeze: s.freeze, Full: s.full, History: s.history}
}

// verdict checks, after the storm, all that must hold whatever happened. Each configuration has exactly one result,
// the store is sound, and the best is the oracle's and confirmed by a second worker. Nothing acknowledged is
// missing. The table is that of an undisturbed sweep, but for configurations that had to be given up.
func (s *sweep) verdict(t *testing.T, poison ...int64) tuner.Sweep {
	t.Helper()
	found, err := store.Check(s.path)
	if err != nil || len(found.Problems) > 0 {
		t.Fatalf("the store is not sound: %+v (%v)", found, err)
	}
	st := open(t, s.path)
	defer st.Close()
	c, stop := serve(t, st)
	defer stop()
	got, err := c.Sweep(t.Context(), s.id)
	if err != nil || got.State != tuner.Completed || got.Counts.Abandoned != int64(len(poison)) || got.Counts.Done+got.Counts.Abandoned != s.bundle.Size {
		t.Fatalf("the sweep is %v, %+v (%v)", got.State, got.Counts, err)
	}
	if want := s.bundle.Best(); got.Best.Index != want || !got.Confirmed {
		t.Errorf("the best is configuration %d, the oracle's %d; confirmed: %v", got.Best.Index, want, got.Confirmed)
	}
	rows := results(t, st, got.Num)
	indices := map[int64]bool{}
	for seq, r := range rows {
		if r.Seq != int64(seq) || indices[r.Index] {
			t.Errorf("row %d is trial %d of configuration %d, which is there twice: %v", seq, r.Seq, r.Index, indices[r.Index])
		}
		if r.Abandoned != slices.Contains(poison, r.Index) {
			t.Errorf("configuration %d: given up: %v, %s", r.Index, r.Abandoned, r.Outcome.Message)
		}
		indices[r.Index] = true
	}
	s.acknowledged(t, got.Num, rows)
	s.recorded(t, st)
	poisoned := func(r tuner.Result) bool { return slices.Contains(poison, r.Index) }
	text, want := exported(t, s.bundle, slices.DeleteFunc(rows, poisoned)), exported(t, s.bundle, slices.DeleteFunc(undisturbed(t, s.bundle), poisoned))
	if !bytes.Equal(text, want) {
		t.Errorf("the exported table differs from an undisturbed one: %d bytes, want %d", len(text), len(want))
	}
	return got
}

// recorded checks that the audit log is whole, and says that the sweep was submitted
// once and has completed.
func (s *sweep) recorded(t *testing.T, st store.Store) {
	t.Helper()
	counts := map[string]int{}
	for before := uint64(0); ; {
		acts, lost, err := st.Acts(before, store.PageLimit)
		if err != nil || len(lost) > 0 {
			t.Fatalf("the audit log: %v, damaged %v", err, lost)
		}
		if len(acts) == 0 {
			break
		}
		for _, a := range acts {
			if before > 0 && a.Num != before-1 {
				t.Errorf("act %d comes before act %d", a.Num, before)
			}
			before = a.Num
			if a.Sweep == s.id {
				counts[a.What]++
			}
		}
	}
	if counts[tuner.ActSubmit] > 1 || counts[tuner.ActComplete] != 1 {
		t.Errorf("the audit log says of the sweep: %v", counts)
	}
}

// acts counts the acts of the audit log by what was done.
func (s *sweep) acts(t *testing.T) map[string]int {
	t.Helper()
	st := open(t, s.path)
	defer st.Close()
	acts, _, err := st.Acts(0, store.PageLimit)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, a := range acts {
		counts[a.What]++
	}
	return counts
}

// acknowledged checks that each trial was acknowledged as new at most once, and
// is there if it was.
func (s *sweep) acknowledged(t *testing.T, num uint64, rows []tuner.Result) {
	t.Helper()
	stored := map[int64]bool{}
	for _, r := range rows {
		stored[r.Seq] = true
	}
	all := s.witness.all()
	for what, n := range all {
		if n != 1 || !stored[what.seq] && what.sweep == num {
			t.Errorf("trial %d was acknowledged as new %d times; stored: %v", what.seq, n, stored[what.seq])
		}
	}
	t.Logf("%d of %d results acknowledged to somebody, %d stored", len(all), s.bundle.Size, len(rows))
}

func open(t *testing.T, path string) *store.Bolt {
	t.Helper()
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// serve runs a coordinator in this process.
func serve(t *testing.T, st store.Store) (_ *coordinator.Coordinator, stop func()) {
	t.Helper()
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return c, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func submit(t *testing.T, c *coordinator.Coordinator, b tunertest.Bundle) {
	t.Helper()
	content, digest := b.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), b.Spec("test"), ""); err != nil {
		t.Fatal(err)
	}
}

// results returns the rows of a sweep.
func results(t *testing.T, st store.Store, num uint64) []tuner.Result {
	t.Helper()
	var rows []tuner.Result
	for seq := int64(0); ; seq = rows[len(rows)-1].Seq + 1 {
		page, err := st.Results(num, seq, store.PageLimit)
		if err != nil {
			t.Fatal(err)
		}
		if rows = append(rows, page...); len(page) == 0 {
			return rows
		}
	}
}

// exported returns rows as the JSON table that people export.
func exported(t *testing.T, b tunertest.Bundle, results []tuner.Result) []byte {
	t.Helper()
	var rows []export.Row
	for _, r := range results {
		c := tunertest.Space(b.Size).At(r.Index)
		rows = append(rows, export.Row{Spec: b.Spec("test"), CC: [2]int{9, 0}, Names: c.Names, Config: c.Values, Outcome: r.Outcome, Seq: r.Seq})
	}
	var text bytes.Buffer
	if err := export.Write(&text, "json", rows); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// undisturbed returns what one worker makes to which nothing happens.
func undisturbed(t *testing.T, b tunertest.Bundle) []tuner.Result {
	t.Helper()
	st := store.NewMemory()
	c, stop := serve(t, st)
	defer stop()
	submit(t, c, b)
	in := &tuner.Sync{Worker: tunertest.Worker("only", 1, 1), Want: 256}
	for {
		reply, err := c.Synchronize(t.Context(), in, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(reply.Grants) == 0 {
			return results(t, st, 1)
		}
		in.Reports = nil
		for _, g := range reply.Grants {
			o := b.Outcome("cycle", g.Index)
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func plural(n int) string {
	if n == 1 {
		return "1 result"
	}
	return fmt.Sprint(n, " results")
}
