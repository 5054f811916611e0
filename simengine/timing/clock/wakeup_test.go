package clock

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/timing"
	"github.com/warptune/warptune/simengine/timing/cost"
	"github.com/warptune/warptune/simengine/timing/dram"
)

// scanned is a scheduler that looks at every slot every time.
type scanned struct {
	*subPartition
	block []int64 // for how many cycles a busy port held the slot's warp back
	seen  int64   // the last cycle that was looked at
}

// pass looks at every cycle up to now.
func (p *scanned) pass(now int64) {
	for ; p.seen < now; p.seen++ {
		for i, r := range p.ready {
			if c := p.seen + 1; r <= c && p.freeAt(p.port[i]) > c {
				p.block[i]++
			}
		}
	}
}

func (p *scanned) choose(now int64) (best int, more bool, next int64, reason timing.StallReason) {
	next, reason = never, timing.Idle
	var can []int
	for i, r := range p.ready {
		if r > now {
			if r < next {
				next, reason = r, p.why[i]
			} else if next == never && p.why[i] == timing.Barrier {
				reason = timing.Barrier
			}
			continue
		}
		if t := p.freeAt(p.port[i]); t > now {
			if t < next {
				next, reason = t, throttles[p.port[i]]
			}
			continue
		}
		can = append(can, i)
	}
	if more = len(can) > 1; more {
		can = slices.DeleteFunc(can, func(i int) bool { return i == p.latest })
	}
	best = -1
	for _, i := range can {
		if best < 0 || p.rank[i] < p.rank[best] {
			best = i
		}
	}
	return best, more, next, reason
}

// A scheduler that keeps its slots in order chooses, waits and charges as one
// that looks at all of them does, through launches, issues, barriers and exits.
func TestChooseIsAScan(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, slots := range []int{1, 5, 16, timing.MaxSlots} {
		p := &subPartition{}
		p.init(slots, 2, 3)
		s := scanned{p, make([]int64, slots), 1}
		enter := func(i int32, at int64) {
			p.ready[i], p.why[i], p.port[i] = at, timing.StallReason(1+rng.IntN(4)), port(rng.IntN(int(numPorts)))
			p.await(i)
		}
		now, lg, mio := int64(1), int64(0), int64(0)
		for range 20000 {
			now += int64(rng.IntN(3))
			for i := range p.ready { // launches and releases
				if p.ready[i] == never && rng.IntN(4) == 0 {
					if p.why[i] == timing.Barrier {
						p.parked--
					}
					enter(int32(i), now+1+int64(rng.IntN(3)))
				}
			}
			s.pass(now)
			wantBest, wantMore, wantNext, wantReason := s.choose(now)
			best, more, next, reason := p.choose(now)
			if best != wantBest || more != wantMore || !more && (next != wantNext || reason != wantReason) {
				t.Fatalf("%d slots, cycle %d: slot %d, more %v, next %d for %v; a scan gives %d, %v, %d, %v", slots, now, best, more, next, reason, wantBest, wantMore, wantNext, wantReason)
			}
			if best < 0 {
				continue
			}
			if got := p.blocked(best, now); got != s.block[best] {
				t.Fatalf("%d slots, cycle %d: slot %d was held for %d cycles, a scan says %d", slots, now, best, got, s.block[best])
			}
			p.leave(best)
			if p.latest, s.block[best] = best, 0; rng.IntN(2) == 0 {
				p.rank[best] = now
			}
			pipe := 1 + rng.IntN(int(cost.NumPipes)-1)
			p.free[pipe] = max(p.free[pipe], (now+int64(rng.IntN(6)))*dram.Fraction)
			if rng.IntN(2) == 0 {
				lg, mio = max(lg, now+int64(rng.IntN(9))), max(mio, now+int64(rng.IntN(9)))
				p.lg.take(lg)
				p.mio.take(mio)
			}
			for g := range port(numPorts) {
				p.cover(g, now)
			}
			switch rng.IntN(8) {
			case 0:
				p.park(int32(best), timing.Idle)
			case 1:
				p.park(int32(best), timing.Barrier)
				p.parked++
			default:
				enter(int32(best), now+1+int64(rng.IntN(12)))
			}
		}
	}
}
