package store

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/store/seal"
)

// The buckets. Numbers are 8 bytes, big-endian; sealed values are a format
// byte, the payload, and the CRC32C of bucket, key and both (seal.go).
//
//	schema/                     not sealed, so that any version can read it
//	|-- version                 -> decimal text
//	|-- id                      -> identity of the store, text
//	|-- sum                     -> CRC32C of both (schema.go)
//	state/
//	|-- token                   -> greatest fencing token, sealed number
//	|-- sweep                   -> greatest sweep number, sealed number
//	|-- past                    -> []tuner.Incarnation, the present one last, sealed JSON
//	sweeps/<sweep>              -> tuner.Sweep, sealed JSON
//	leases/<sweep>/<trial>      -> tuner.LeaseRecord, sealed row (row.go)
//	results/<sweep>/<trial>     -> tuner.Result, sealed row (row.go)
//	texts/<sweep>/<number>      -> text that rows of the sweep name, sealed
//	index/                      -> what finds results by answer key and digest (index.go)
//	best/<kernel>\0<arch>\0<problem>  -> tuner.Best, sealed JSON (best.go)
//	bundles/<digest>            -> kernel bundle, sealed
//	audit/<number>              -> tuner.Act, sealed JSON (acts.go)
var (
	schemaBucket  = []byte("schema")
	stateBucket   = []byte("state")
	sweepsBucket  = []byte("sweeps")
	leasesBucket  = []byte("leases")
	resultsBucket = []byte("results")
	textsBucket   = []byte("texts")
	indexBucket   = []byte("index")
	bestBucket    = []byte("best")
	bundlesBucket = []byte("bundles")
	auditBucket   = []byte("audit")

	tokenKey = []byte("token")
	sweepKey = []byte("sweep")
	pastKey  = []byte("past")

	allBuckets = [][]byte{
		schemaBucket, stateBucket, sweepsBucket, leasesBucket, resultsBucket, textsBucket, indexBucket, bestBucket, bundlesBucket, auditBucket,
	}
)

// ownedBuckets have a bucket for each sweep that needs one.
var ownedBuckets = [][]byte{resultsBucket, leasesBucket, textsBucket}

// appendFill is how full pages of buckets are made whose keys mostly grow.
const appendFill = 0.95

// Bolt is a Store in a bbolt file.
type Bolt struct {
	db    *bolt.DB
	path  string
	id    string
	lock  io.Closer
	texts dictionaries
	index index
	// stored counts results since pages were last released.
	stored atomic.Int64
	file   os.FileInfo // what was opened
	// salvage is OpenOptions.Salvage.
	salvage bool
	begun   atomic.Pointer[begun] // nil: nothing is to be stored of it
	writing sync.Mutex            // held by what writes with what is in begun and log
	log     actLog
	compact uint64 // the run of the index that Compact looks at next
}

var _ Store = (*Bolt)(nil)

// ID is in Store.
func (b *Bolt) ID() string { return b.id }

// Path returns the path of the file.
func (b *Bolt) Path() string { return b.path }

// Close is in Store.
func (b *Bolt) Close() error {
	return errors.Join(b.db.Close(), b.lock.Close())
}

// number returns n as a key.
func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// keyNumber reads what number wrote; 0 if it did not.
func keyNumber(key []byte) uint64 {
	if len(key) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// guard turns what bbolt does about a damaged file, panics and faults, into
// an error. It must be deferred first.
func guard(op string, err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			*err = seal.Damaged("%s: the file is inconsistent (%v)", op, p)
		}
	}
}

// view runs f in a read transaction, which must be short.
func (b *Bolt) view(op string, f func(tx *bolt.Tx) error) (err error) {
	defer guard(op, &err)()
	return translate(op, b.db.View(f))
}

// update runs f in a write transaction.
func (b *Bolt) update(op string, f func(tx *bolt.Tx) error) (err error) {
	defer guard(op, &err)()
	return translate(op, b.db.Update(f))
}

// translate gives an error of bbolt or the system its kind.
func translate(op string, err error) error {
	var known *tuner.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, bolterrors.ErrMaxSizeReached):
		return tuner.Errorf(tuner.DiskFull, op, "%w: free some space; nothing acknowledged is lost", err)
	case errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch):
		return seal.Damaged("%v", err)
	}
	return tuner.Errorf(tuner.Internal, op, "%w", err)
}
