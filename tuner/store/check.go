package store

import (
	"fmt"

	bolt "go.etcd.io/bbolt"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// Findings are what Check found.
type Findings struct {
	Sweeps, Results, Leases, Answers, Bundles, Acts int64
	Usage                                           Usage
	// Problems are what is wrong, at most maxProblems of them.
	Problems []string
}

const maxProblems = 100

func (f *Findings) problem(format string, args ...any) {
	if len(f.Problems) < maxProblems {
		f.Problems = append(f.Problems, fmt.Sprintf(format, args...))
	}
}

// Check reads everything in a store's file, changes nothing, and says what is
// wrong: values that do not verify, and records that contradict one another.
// An error means that the file cannot be read at all; ErrOlder, that it would have
// to be upgraded first.
func Check(path string) (*Findings, error) { return check(path, true) }

// CheckUpgraded is Check of a file of whatever schema, which it upgrades: of a copy.
func CheckUpgraded(path string) (*Findings, error) { return check(path, false) }

func check(path string, asStored bool) (*Findings, error) {
	b, err := Open(path, OpenOptions{Existing: true, AnyFileSystem: true, uncounted: true, asStored: asStored})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	f := &Findings{}
	if f.Usage, err = b.Usage(); err != nil {
		return nil, err
	}
	err = b.view("check store", func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			f.problem("%v", err)
		}
		f.index(tx)
		f.Acts = int64(tx.Bucket(auditBucket).Sequence()) // verified when it was opened
		return tx.Bucket(bundlesBucket).ForEach(func(k, v []byte) error {
			f.Bundles++
			if _, err := seal.Open(bundlesBucket, k, v); err != nil {
				f.problem("%v", err)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if err := b.verifyCounts(); err != nil {
		f.problem("%v", err)
	}
	sweeps, err := b.Sweeps()
	if err != nil {
		f.problem("%v", err)
	}
	for i := range sweeps {
		f.Sweeps++
		f.sweep(b, &sweeps[i])
	}
	return f, nil
}

// index checks the entries of the index.
func (f *Findings) index(tx *bolt.Tx) {
	root := tx.Bucket(indexBucket)
	for _, name := range [][]byte{logBucket, chunksBucket} {
		_ = root.Bucket(name).ForEach(func(k, v []byte) error {
			entries, err := unsealEntries(name, k, v)
			if err != nil {
				f.problem("index: %v", err)
			}
			for ; len(entries) > 0; entries = entries[entrySize:] {
				at := readPlace(entries)
				f.pointer(tx, indexBucket, entries[:16], uint64(at.sweep), uint64(at.seq))
			}
			return nil
		})
	}
	_ = root.Bucket(runsBucket).ForEach(func(k, v []byte) error {
		if _, err := seal.Open(runsBucket, k, v); err != nil {
			f.problem("index: %v", err)
		}
		return nil
	})
}

// pointer checks that the result pointed at is there. That its sweep was
// deleted is no problem.
func (f *Findings) pointer(tx *bolt.Tx, name, key []byte, sweep, seq uint64) {
	f.Answers++
	results := tx.Bucket(resultsBucket).Bucket(number(sweep))
	if results == nil || results.Get(number(seq)) != nil {
		return
	}
	if state := tx.Bucket(sweepsBucket).Get(number(sweep)); state != nil && !deleting(state, sweep) {
		f.problem("%s: key %x points at trial %d of sweep %d, which has no result", name, key, seq, sweep)
	}
}

func deleting(sealed []byte, num uint64) bool {
	var s tuner.Sweep
	return readJSON(sweepsBucket, number(num), sealed, &s) == nil && s.State == tuner.Deleting
}

// sweep checks a sweep's results and leases against its record.
func (f *Findings) sweep(b *Bolt, s *tuner.Sweep) {
	var results, abandoned, next int64
	have := map[int64]bool{}
	for {
		page, err := b.Results(s.Num, next, PageLimit)
		if err != nil {
			f.problem("sweep %s: %v", s.ID, err)
			return
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			r := &page[i]
			results++
			next = r.Seq + 1
			if r.Abandoned {
				abandoned++
			} else if err := r.Outcome.Check(); err != nil {
				f.problem("sweep %s: trial %d: %v", s.ID, r.Seq, err)
			}
			if s.State.Live() {
				have[r.Seq] = true
			}
		}
	}
	f.Results += results
	if c := &s.Counts; s.State == tuner.Completed && (results != c.Done+c.Abandoned || abandoned != c.Abandoned || next != results) {
		f.problem("sweep %s: %d results of which %d given up, up to trial %d; its record says %d and %d", s.ID, results, abandoned, next-1, c.Done+c.Abandoned, c.Abandoned)
	}
	leases, err := b.Leases(s.Num)
	if err != nil {
		f.problem("sweep %s: %v", s.ID, err)
	}
	for _, l := range leases {
		f.Leases++
		if have[l.Seq] {
			f.problem("sweep %s: trial %d has both a lease and a result", s.ID, l.Seq)
		}
	}
	if len(leases) > 0 && !s.State.Live() {
		f.problem("sweep %s is %s and has %d leases", s.ID, s.State, len(leases))
	}
	f.best(b, s)
}

// best checks that what stands as the best is there.
func (f *Findings) best(b *Bolt, s *tuner.Sweep) {
	best, err := b.Best(s.Spec.Kernel, s.Spec.Arch, s.Spec.Problem)
	if err != nil {
		if tuner.KindOf(err) != tuner.NotFound || s.Best != nil && s.State == tuner.Completed {
			f.problem("sweep %s: %v", s.ID, err)
		}
		return
	}
	if best.Sweep != s.Num {
		return
	}
	page, err := b.Results(s.Num, best.Result.Seq, 1)
	if err != nil || len(page) != 1 || page[0].Seq != best.Result.Seq || page[0].Outcome.TimeUS != best.Result.Outcome.TimeUS {
		f.problem("sweep %s: the best is trial %d with %g µs, which is not among its results", s.ID, best.Result.Seq, best.Result.Outcome.TimeUS)
	}
}
