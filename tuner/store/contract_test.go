package store

import (
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/tunertest"
)

// each runs a test over every implementation; again closes and opens the store
// where that means something.
func each(t *testing.T, f func(t *testing.T, s Store, again func() Store)) {
	t.Run("memory", func(t *testing.T) {
		m := NewMemory()
		withSweeps(t, m)
		f(t, m, func() Store { return m })
	})
	t.Run("failing", func(t *testing.T) { // it fails only where it is told to
		m := &Failing{Store: NewMemory(), Fail: func() error { return nil }}
		withSweeps(t, m)
		f(t, m, func() Store { return m })
	})
	t.Run("bolt", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "sweeps.db")
		b := mustOpen(t, path)
		withSweeps(t, b)
		f(t, b, func() Store {
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = mustOpen(t, path)
			return b
		})
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// withSweeps stores sweeps 1 and 2, which the tests' results belong to.
func withSweeps(t *testing.T, s Store) {
	t.Helper()
	must(t, s.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{testSweep(1), testSweep(2)}}))
}

func mustOpen(t *testing.T, path string) *Bolt {
	t.Helper()
	b, err := Open(path, OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testSweep(num uint64) tuner.Sweep {
	spec := tunertest.Bundle{Size: int64(100 * num)}.Spec("kernel")
	spec.Set = map[string][]string{"BLOCK": {"32", "64"}}
	return tuner.Sweep{
		Num: num, ID: spec.ID(""), Spec: spec, Window: 7, Names: []string{"HIGH", "LOW"}, State: tuner.Running,
		Submitted: time.Unix(1700000000, 0).UTC(),
	}
}

func testResult(sweep uint64, seq int64) tuner.ResultChange {
	values := tunertest.Space(1e6).At(seq).Values
	return tuner.ResultChange{
		Sweep: sweep, Result: tuner.Result{Seq: seq, Index: 3 * seq, Attempts: 2, Worker: "node-7", Outcome: tunertest.Oracle(seq)},
		Answer: tuner.AnswerKey(string(rune('a'+sweep)), values),
	}
}

func TestCommittedIsRead(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		c := tuner.Changes{
			Sweeps: []tuner.Sweep{testSweep(1), testSweep(2)}, Token: 17,
			Leases: []tuner.LeaseRecord{
				{Sweep: 1, Seq: 4, Index: 12, Token: 16, Attempt: 1, Holder: "a/1", Held: true},
				{Sweep: 1, Seq: 5, Index: 15, Token: 17, Attempt: 2, Holder: "b/2", Reason: "was lost"},
			},
			Results: []tuner.ResultChange{testResult(1, 1), testResult(1, 0), testResult(1, 4)},
		}
		must(t, s.Commit(&c))
		abandoned := tuner.ResultChange{Sweep: 1, Result: tuner.Result{Seq: 9, Index: 2, Attempts: 3, Abandoned: true, Outcome: tuner.Outcome{Message: "gone"}}}
		must(t, s.Commit(&tuner.Changes{Results: []tuner.ResultChange{abandoned}, Token: 3}))
		s = again()

		token, last, err := s.Numbers()
		must(t, err)
		if token != 17 || last != 2 {
			t.Errorf("numbers are %d and %d, want 17 and 2", token, last)
		}
		sweeps, err := s.Sweeps()
		must(t, err)
		if want := []tuner.Sweep{testSweep(1), testSweep(2)}; !reflect.DeepEqual(sweeps, want) {
			t.Errorf("sweeps are\n%+v, want\n%+v", sweeps, want)
		}
		leases, err := s.Leases(1)
		must(t, err)
		if want := c.Leases[1:]; !reflect.DeepEqual(leases, want) {
			t.Errorf("leases are %+v, want %+v: a result ends its lease", leases, want)
		}
		results, err := s.Results(1, 0, 100)
		must(t, err)
		want := []tuner.Result{testResult(1, 0).Result, testResult(1, 1).Result, testResult(1, 4).Result, abandoned.Result}
		if !reflect.DeepEqual(results, want) {
			t.Errorf("results are\n%+v, want\n%+v", results, want)
		}
	})
}

func TestResultsComeInPages(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		const n = 2500
		var c tuner.Changes
		for i := range int64(n) {
			c.Results = append(c.Results, testResult(1, (i*7919)%n))
		}
		must(t, s.Commit(&c))
		s = again()
		next := int64(0)
		for {
			page, err := s.Results(1, next, 1<<20)
			must(t, err)
			if len(page) == 0 {
				break
			}
			if len(page) > PageLimit {
				t.Fatalf("a page has %d results", len(page))
			}
			for _, r := range page {
				if r.Seq != next {
					t.Fatalf("trial %d follows %d", r.Seq, next-1)
				}
				next++
			}
		}
		if next != n {
			t.Errorf("%d results, want %d", next, n)
		}
		if page, err := s.Results(99, 0, 10); err != nil || len(page) != 0 {
			t.Errorf("a sweep that does not exist has results %v (%v)", page, err)
		}
	})
}

func TestAnswersAreFoundByConfigurationAndByDigest(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		r := testResult(1, 5)
		must(t, s.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{testSweep(1)}, Results: []tuner.ResultChange{r, testResult(1, 6)}}))
		s = again()
		if a, found, err := s.Answer(r.Answer); err != nil || !found || a.Sweep != r.Sweep || !reflect.DeepEqual(a.Result, r.Result) {
			t.Errorf("answer under %x is %+v (%v)", r.Answer, a, err)
		}
		if a, found, err := s.Digested(r.Result.Outcome.Digest); err != nil || !found || !reflect.DeepEqual(a.Result.Outcome, r.Result.Outcome) {
			t.Errorf("answer under %s is %+v (%v)", r.Result.Outcome.Digest, a, err)
		}
		if _, found, err := s.Digested("another"); err != nil || found {
			t.Errorf("another digest is found (%v)", err)
		}
		if _, found, err := s.Answer(tuner.AnswerKey("other scope", tunertest.Space(10).At(5).Values)); found || err != nil {
			t.Errorf("another scope is answered (%v)", err)
		}
		if _, err := s.Remove(1, 10); err != nil {
			t.Fatal(err)
		}
		if _, found, err := s.Answer(r.Answer); found || err != nil {
			t.Errorf("a removed sweep answers (%v)", err)
		}
		if _, found, err := s.Digested(r.Result.Outcome.Digest); found || err != nil {
			t.Errorf("a removed sweep's digest is found (%v)", err)
		}
	})
}

func testBest(sweep uint64, timeUS float64, change func(*tuner.Best)) tuner.Best {
	s := testSweep(sweep)
	s.Spec.Problem = []int64{8192}
	b := tuner.Best{
		Sweep: sweep, ID: s.ID, Spec: s.Spec, Names: s.Names, Values: []search.Value{{Kind: search.Int, I: 3}, {Kind: search.String, S: "x"}},
		Result: tuner.Result{Seq: 1, Index: 2, Attempts: 1, Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: timeUS}},
	}
	b.Spec.Bundle = "bundle"
	if change != nil {
		change(&b)
	}
	return b
}

// No best is left of a sweep that has started over, not even one of the same
// commit.
func TestVoidSweepsHaveNoBest(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		must(t, s.Commit(&tuner.Changes{Bests: []tuner.Best{testBest(2, 5, nil)}}))
		c := tuner.Changes{Bests: []tuner.Best{testBest(2, 4, nil), testBest(3, 6, nil)}}
		c.Append(&tuner.Changes{Void: []uint64{2}})
		must(t, s.Commit(&c))
		s = again()
		if b, err := s.Best("kernel", tunertest.Arch, []int64{8192}); err != nil || b.Sweep != 3 {
			t.Errorf("the best is %+v (%v)", b, err)
		}
	})
}

func TestBestStands(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		expect := func(what string, sweep uint64, timeUS float64) {
			t.Helper()
			b, err := s.Best("kernel", tunertest.Arch, []int64{8192})
			must(t, err)
			if b.Sweep != sweep || b.Result.Outcome.TimeUS != timeUS || b.Values[1].S != "x" {
				t.Errorf("%s: best is %+v", what, b)
			}
		}
		put := func(b tuner.Best) { t.Helper(); must(t, s.Commit(&tuner.Changes{Bests: []tuner.Best{b}})) }
		if _, err := s.Best("kernel", tunertest.Arch, nil); tuner.KindOf(err) != tuner.NotFound {
			t.Errorf("without results: %v", err)
		}
		put(testBest(2, 5, nil))
		put(testBest(1, 7, nil))
		expect("a slower one does not replace", 2, 5)
		put(testBest(1, 5, nil))
		expect("of two as fast the earlier sweep stands", 1, 5)
		put(testBest(3, 9, func(b *tuner.Best) { b.Spec.Engine = "engine-2" }))
		expect("another engine replaces though slower", 3, 9)
		put(testBest(2, 4, nil))
		expect("the older engine does not replace", 3, 9)
		put(testBest(4, 1, func(b *tuner.Best) { b.Spec.Level = "model" }))
		expect("the model level does not replace", 3, 9)
		put(testBest(1, 1, func(b *tuner.Best) { b.Spec.Problem = []int64{1024} }))
		s = again()
		expect("other problems are others", 3, 9)
		all, _, err := s.Bests("kernel", tunertest.Arch)
		must(t, err)
		if len(all) != 2 || all[0].Spec.Problem[0] != 1024 {
			t.Errorf("bests are %+v", all)
		}
		if all, _, err := s.Bests("kern", tunertest.Arch); err != nil || len(all) != 0 {
			t.Errorf("a prefix of the name finds %v (%v)", all, err)
		}
	})
}

// Which best stands does not depend on the order in which sweeps came to theirs:
// it is the fastest of those that asked what the latest sweep asks.
func TestBestWhateverTheOrder(t *testing.T) {
	seed := tunertest.Seed(t)
	each(t, func(t *testing.T, s Store, again func() Store) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for round := range 20 {
			problem := []int64{int64(round + 1)}
			var pending []tuner.Best
			for i, b := range []struct {
				engine string
				times  []float64
			}{{"engine-1", []float64{9, 5}}, {"engine-2", []float64{4, 3}}, {"engine-1", []float64{8, 7}}, {"engine-2", nil}} {
				for _, us := range b.times {
					pending = append(pending, testBest(uint64(10*round+i+1), us, func(to *tuner.Best) { to.Spec.Engine, to.Spec.Problem = b.engine, problem }))
				}
			}
			for len(pending) > 0 {
				i := rng.IntN(len(pending))
				for i > 0 && pending[i-1].Sweep == pending[i].Sweep { // each sweep's in their order
					i--
				}
				b := pending[i]
				pending = slices.Delete(pending, i, i+1)
				sweep := testSweep(b.Sweep)
				sweep.Spec, sweep.Best, sweep.BestValues = b.Spec, &b.Result, b.Values
				must(t, s.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{sweep}, Bests: []tuner.Best{b}}))
			}
			expect := func(what string, us float64) {
				t.Helper()
				if b, err := s.Best("kernel", tunertest.Arch, problem); err != nil || b.Result.Outcome.TimeUS != us {
					t.Fatalf("round %d, %s: %g of sweep %d (%v), want %g", round, what, b.Result.Outcome.TimeUS, b.Sweep, err, us)
				}
			}
			expect("in the end", 5)
			for _, gone := range []struct {
				sweep int
				us    float64
			}{{1, 7}, {3, 3}} {
				_, err := s.Remove(uint64(10*round+gone.sweep), 1000)
				must(t, err)
				expect("with some removed", gone.us)
			}
			s = again()
		}
	})
}

func TestRemoveGoesBitByBit(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		one, two := testSweep(1), testSweep(2)
		for _, sweep := range []*tuner.Sweep{&one, &two} {
			b := testBest(sweep.Num, float64(sweep.Num), nil)
			sweep.Spec, sweep.Best, sweep.BestValues = b.Spec, &b.Result, b.Values
			must(t, s.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{*sweep}, Bests: []tuner.Best{b}}))
		}
		var c tuner.Changes
		for i := range int64(250) {
			c.Results = append(c.Results, testResult(1, i), testResult(2, i))
		}
		must(t, s.Commit(&c))
		calls := 1
		for {
			more, err := s.Remove(1, 100)
			must(t, err)
			if !more {
				break
			}
			calls++
		}
		if calls != 3 {
			t.Errorf("250 results went in %d calls of 100", calls)
		}
		s = again()
		if page, _ := s.Results(1, 0, 10); len(page) != 0 {
			t.Errorf("%d results are left", len(page))
		}
		if page, _ := s.Results(2, 0, 1000); len(page) != 250 {
			t.Errorf("the other sweep has %d results", len(page))
		}
		if sweeps, _ := s.Sweeps(); len(sweeps) != 1 || sweeps[0].Num != 2 {
			t.Errorf("sweeps left: %+v", sweeps)
		}
		b, err := s.Best("kernel", tunertest.Arch, []int64{8192})
		if err != nil || b.Sweep != 2 {
			t.Errorf("the other sweep's best does not take over: %+v (%v)", b, err)
		}
		if _, last, _ := s.Numbers(); last != 2 {
			t.Errorf("the last number is %d", last)
		}
	})
}

// putBundle puts a bundle, which whoever put it is recorded for, and reports whether it
// was added.
func putBundle(t *testing.T, s Store, digest string, content []byte) bool {
	t.Helper()
	added, err := s.PutBundle(digest, content, tuner.Act{What: tuner.ActPutBundle, Detail: digest})
	must(t, err)
	return added
}

func TestBundles(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		content, digest := tunertest.Bundle{Size: 5}.Content()
		if _, err := s.Bundle(digest); tuner.KindOf(err) != tuner.NotFound {
			t.Errorf("before: %v", err)
		}
		if !putBundle(t, s, digest, content) || putBundle(t, s, digest, content) {
			t.Error("it is not added once")
		}
		s = again()
		if got, err := s.Bundle(digest); err != nil || string(got) != string(content) {
			t.Errorf("bundle is %q (%v)", got, err)
		}
		other, unused := tunertest.Bundle{Size: 6}.Content()
		putBundle(t, s, unused, other)
		must(t, s.DropBundles(map[string]bool{digest: true}))
		s = again()
		if _, err := s.Bundle(digest); err != nil {
			t.Errorf("the bundle that is named: %v", err)
		}
		if _, err := s.Bundle(unused); tuner.KindOf(err) != tuner.NotFound {
			t.Errorf("the other: %v", err)
		}
	})
}

func TestRevokedLeasesGo(t *testing.T) {
	each(t, func(t *testing.T, s Store, again func() Store) {
		lease := tuner.LeaseRecord{Sweep: 1, Seq: 4, Token: 16, Attempt: 1, Holder: "a/1", Held: true}
		other := lease
		other.Sweep = 2
		must(t, s.Commit(&tuner.Changes{Leases: []tuner.LeaseRecord{lease, other}}))
		lease.Seq = 5
		must(t, s.Commit(&tuner.Changes{Revoked: []uint64{1}, Leases: []tuner.LeaseRecord{lease}}))
		s = again()
		for _, want := range []tuner.LeaseRecord{lease, other} {
			if got, err := s.Leases(want.Sweep); err != nil || len(got) != 1 || got[0] != want {
				t.Errorf("leases are %+v (%v), want %+v", got, err, want)
			}
		}
	})
}
