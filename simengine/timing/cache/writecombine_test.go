package cache

import (
	"math/rand/v2"
	"testing"
)

// Whatever is stored in whatever order, every sector goes out; those written whole each
// time, of few lines those written in part once.
func TestCombining(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		room := 1 + rng.IntN(12)
		lines := 1 + rng.IntN(2*room)
		c := NewWriteCombiner(room)
		sent, asked, open := make([]uint8, lines), make([]uint8, lines), make([]uint8, lines)
		for range 300 {
			line, sectors := rng.IntN(lines), uint8(1+rng.IntN(15))
			full := sectors & uint8(rng.IntN(16))
			asked[line] |= sectors
			fresh := c.Add(uint64(line), sectors, full)
			if fresh&^sectors != 0 || full&^fresh != 0 {
				t.Fatalf("seed %d: sectors %x of a store to %x, of them %x whole", seed, fresh, sectors, full)
			}
			if part := fresh &^ full; lines <= room && part&open[line] != 0 {
				t.Fatalf("seed %d: sectors %x of line %d go out again with %d lines in %d", seed, part&open[line], line, lines, room)
			}
			sent[line] |= fresh
			open[line] |= sectors &^ full
		}
		for i := range sent {
			if sent[i] != asked[i] {
				t.Fatalf("seed %d: of line %d sectors %x went out, %x were stored", seed, i, sent[i], asked[i])
			}
		}
	}
	none := WriteCombiner{}
	for range 2 {
		if none.Add(1, 3, 0) != 3 {
			t.Error("no room joins stores")
		}
	}
}
