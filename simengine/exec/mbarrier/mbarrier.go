// Package mbarrier is the state of an mbarrier object (PTX ISA, mbarrier): arrivals and bytes that are
// pending, and the phase that completes when there are none.
package mbarrier

import "fmt"

// Limits of the PTX ISA.
const (
	MaxCount = 1<<20 - 1 // of arrivals
	MaxTx    = 1<<20 - 1 // of bytes, pending or completed ahead
)

// Barrier is an mbarrier. The zero value is one that is not initialised.
type Barrier struct {
	Expected int32  // arrivals in each phase; 0: it is not initialised
	Pending  int32  // arrivals to come in this phase
	Tx       int32  // bytes to come in this phase
	Phase    uint64 // number of this phase, from 0
}

// Init makes an mbarrier that expects so many arrivals.
func (b *Barrier) Init(count int64) error {
	if count < 1 || count > MaxCount {
		return fmt.Errorf("an mbarrier of %d arrivals: want 1 to %d", count, MaxCount)
	}
	*b = Barrier{Expected: int32(count), Pending: int32(count)}
	return nil
}

// Valid reports whether it is initialised.
func (b *Barrier) Valid() bool { return b.Expected > 0 || b.Pending > 0 }

// Arrive makes arrivals, and reports whether the phase completes.
func (b *Barrier) Arrive(count int64) (completes bool, err error) {
	if count < 1 || count > int64(b.Pending) {
		return false, fmt.Errorf("%d arrivals at an mbarrier that expects %d more in phase %d", count, b.Pending, b.Phase)
	}
	b.Pending -= int32(count)
	return b.complete(), nil
}

// Drop takes arrivals off those expected in phases to come. An Arrive of as many follows.
func (b *Barrier) Drop(count int64) error {
	if count < 1 || count > int64(b.Expected) {
		return fmt.Errorf("%d arrivals dropped of an mbarrier that expects %d", count, b.Expected)
	}
	b.Expected -= int32(count)
	return nil
}

// Expect adds arrivals that are pending in this phase alone.
func (b *Barrier) Expect(count int64) error {
	if int64(b.Pending)+count > MaxCount {
		return fmt.Errorf("an mbarrier with %d pending arrivals: at most %d", int64(b.Pending)+count, MaxCount)
	}
	b.Pending += int32(count)
	return nil
}

// ExpectTx adds bytes to those pending, and reports whether the phase completes: it does if they had
// come before.
func (b *Barrier) ExpectTx(bytes int64) (completes bool, err error) { return b.addTx(bytes) }

// CompleteTx takes bytes off those pending, and reports whether the phase completes.
func (b *Barrier) CompleteTx(bytes int64) (completes bool, err error) { return b.addTx(-bytes) }

func (b *Barrier) addTx(bytes int64) (bool, error) {
	n := int64(b.Tx) + bytes
	if n > MaxTx || n < -MaxTx {
		return false, fmt.Errorf("an mbarrier with a transaction count of %d: at most %d", n, MaxTx)
	}
	b.Tx = int32(n)
	return b.complete(), nil
}

// complete begins the next phase if nothing is pending.
func (b *Barrier) complete() bool {
	if b.Pending != 0 || b.Tx != 0 {
		return false
	}
	b.Phase++
	b.Pending = b.Expected
	return true
}

// Completed reports whether the phase of a number has completed.
func (b *Barrier) Completed(phase uint64) bool { return b.Phase > phase }

// CompletedParity reports whether the phase of a parity has completed that is the current one or the
// one before it.
func (b *Barrier) CompletedParity(parity uint8) bool { return b.Phase&1 != uint64(parity) }
