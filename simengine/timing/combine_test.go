package timing

import (
	"math/rand/v2"
	"testing"
)

// Whatever is stored in whatever order, a sector is on its way once for each time
// its line was opened, and stores to few lines open each once.
func TestCombining(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 200 {
		room := 1 + rng.IntN(12)
		lines := 1 + rng.IntN(2*room)
		c := NewCombining(room)
		sent, asked := make([]uint8, lines), make([]uint8, lines)
		for range 300 {
			line, sectors := rng.IntN(lines), uint8(1+rng.IntN(15))
			asked[line] |= sectors
			fresh := c.Add(uint64(line), sectors)
			if fresh&^sectors != 0 {
				t.Fatalf("seed %d: sectors %x of a store to %x", seed, fresh, sectors)
			}
			if lines <= room && fresh&sent[line] != 0 {
				t.Fatalf("seed %d: sectors %x of line %d go out again with %d lines in %d", seed, fresh&sent[line], line, lines, room)
			}
			sent[line] |= fresh
		}
		for i := range sent {
			if sent[i] != asked[i] {
				t.Fatalf("seed %d: of line %d sectors %x went out, %x were stored", seed, i, sent[i], asked[i])
			}
		}
	}
	none := Combining{}
	if none.Add(1, 3) != 3 || none.Add(1, 3) != 3 {
		t.Error("no room joins stores")
	}
}
