// Package store keeps sweeps, leases, results, best configurations and kernel
// bundles. It has the Store interface with its contract, an implementation on
// bbolt for coordinators and one in memory for tests and one-off runs.
//
// It does not decide anything: what is stored is decided by tuner.Ledger.
package store

import (
	"io"

	"github.com/warptune/warptune/tuner"
)

// Store is the durable form of a coordinator's state. Implementations are safe
// for concurrent use; calls do not wait for one another, except Commits.
// Returned values are the caller's. Errors are *tuner.Error.
type Store interface {
	// ID returns the identity of the store, made at random when it was.
	ID() string
	// Begin notes that a coordinator begins to use the store, under a name drawn at
	// random, and returns the incarnations before. It is durable with the next write,
	// in one transaction with it and with the act given.
	Begin(name string, did tuner.Act) (past []tuner.Incarnation, err error)
	// Numbers returns the greatest fencing token and the greatest sweep number
	// ever stored.
	Numbers() (token, sweep uint64, err error)
	// Sweeps returns all sweeps by number.
	Sweeps() ([]tuner.Sweep, error)
	// SalvageSweeps is Sweeps, but passes over records that are damaged and returns
	// the numbers of their sweeps.
	SalvageSweeps() (all []tuner.Sweep, lost []uint64, err error)
	// Leases returns a sweep's leases by trial.
	Leases(sweep uint64) ([]tuner.LeaseRecord, error)
	// Results returns up to limit results of a sweep from trial seq on, in the
	// order of trials. limit is at most PageLimit; an empty answer means that
	// there are no more.
	Results(sweep uint64, seq int64, limit int) ([]tuner.Result, error)
	// Salvage is Results, but passes over trials whose rows are damaged and names
	// them, ascending: both count towards limit, and the end is where both are empty.
	Salvage(sweep uint64, seq int64, limit int) (page []tuner.Result, lost []int64, err error)
	// Answer returns the result stored under an answer key (tuner.AnswerKey).
	Answer(key []byte) (a Answer, found bool, err error)
	// Digested returns the result stored under an Outcome.Digest.
	Digested(digest string) (a Answer, found bool, err error)
	// Best returns the best configuration for a kernel, architecture and
	// problem, NotFound when there is none.
	Best(kernel, arch string, problem []int64) (tuner.Best, error)
	// Bests returns those of all problems, in the order of the problems, and how many
	// are damaged.
	Bests(kernel, arch string) (all []tuner.Best, lost int64, err error)
	// Bundle returns a bundle's content, NotFound when it is not stored.
	Bundle(digest string) ([]byte, error)
	// Acts returns up to limit acts of the audit log with numbers below before (0:
	// from the newest), newest first, and the numbers of those that are damaged, which
	// count towards limit: the end is where both are empty.
	Acts(before uint64, limit int) (page []tuner.Act, lost []uint64, err error)
	// BundleSizes returns the sizes of the bundles that are stored, in bytes.
	BundleSizes() (map[string]int64, error)
	// PutBundle stores a bundle and, in one transaction, the act given. Nothing is
	// stored of one that is stored already: added is false.
	PutBundle(digest string, content []byte, did tuner.Act) (added bool, err error)
	// Commit stores all the changes or none, and returns once they are
	// durable; c stays the caller's. After an error other than DiskFull it is unknown whether they
	// are stored: the store must be read again, or closed.
	Commit(c *tuner.Changes) error
	// Remove removes up to limit results of a sweep in state Deleting, and the
	// sweep when none is left. more says that it must be called again.
	Remove(sweep uint64, limit int) (more bool, err error)
	// Compact looks through a part of what deleted sweeps may have left behind, and
	// removes it where it is much. more says that there are further parts.
	Compact() (more bool, err error)
	// DropBundles removes the bundles whose digest is not among those named.
	DropBundles(named map[string]bool) error
	// Backup writes a consistent copy.
	Backup(w io.Writer) error
	// Close releases the store. Calls under way end first.
	Close() error
}

// Answer is a result, found by what was asked.
type Answer struct {
	Sweep  uint64 // whose it is
	Result tuner.Result
}

// PageLimit is the most results one call returns, so that no reader holds a
// transaction for long.
const PageLimit = 1000
