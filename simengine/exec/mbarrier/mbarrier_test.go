package mbarrier

import (
	"math/rand/v2"
	"testing"
)

// TestPhases makes random arrivals and transactions and compares phases with sums.
func TestPhases(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 1000 {
		var b Barrier
		if b.Valid() || b.Init(0) == nil || b.Init(MaxCount+1) == nil {
			t.Fatal("a barrier of no arrivals")
		}
		count := int64(1 + r.IntN(9))
		if err := b.Init(count); err != nil {
			t.Fatal(err)
		}
		for phase := range uint64(6) {
			left, tx := count, int64(0)
			for {
				if b.Phase != phase || b.Completed(phase) || phase > 0 && !b.Completed(phase-1) || b.CompletedParity(uint8(phase&1)) || !b.CompletedParity(uint8(phase&1^1)) {
					t.Fatalf("phase %d, want %d", b.Phase, phase)
				}
				var done bool
				var err error
				switch r.IntN(3) {
				case 0:
					n := int64(r.IntN(100))
					tx += n
					done, err = b.ExpectTx(n)
				case 1:
					if left == 0 {
						continue
					}
					n := 1 + r.Int64N(left)
					left -= n
					done, err = b.Arrive(n)
				case 2:
					n := r.Int64N(50)
					if left == 0 || tx > 1000 {
						n = tx
					}
					tx -= n
					done, err = b.CompleteTx(n)
				}
				if err != nil {
					t.Fatal(err)
				}
				if done != (left == 0 && tx == 0) {
					t.Fatalf("completes %v with %d arrivals and %d bytes to come", done, left, tx)
				}
				if done {
					break
				}
			}
		}
		if _, err := b.Arrive(count + 1); err == nil {
			t.Fatal("too many arrivals")
		}
		if _, err := b.ExpectTx(MaxTx + 1); err == nil {
			t.Fatal("too many bytes")
		}
	}
}

// TestDrop expects fewer arrivals after a drop.
func TestDrop(t *testing.T) {
	var b Barrier
	b.Init(2)
	if err := b.Drop(1); err != nil {
		t.Fatal(err)
	}
	b.Arrive(1)
	if done, _ := b.Arrive(1); !done || b.Pending != 1 {
		t.Errorf("%+v", b)
	}
	if done, _ := b.Arrive(1); !done || b.Drop(2) == nil {
		t.Errorf("%+v", b)
	}
}
