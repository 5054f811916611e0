package footprint

import (
	"math/bits"
	"slices"
)

// distances measures, along what one CTA touches, how many other lines come between two touches of a line. That is
// the LRU stack distance (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage hierarchies", IBM
// Systems Journal 9(2), 1970). A tree of partial sums over the turns in which lines were touched last counts them
// (Bennett and Kruskal, "LRU stack processing", IBM J. Res. Dev. 19(4), 1975).
//
// A line counts as many times as the loop iteration stands for that touched it first. Between
// two touches within one iteration a line counts once: the iterations that this one stands for
// do not come between. The zero value is ready.
type distances struct {
	last   *runTable[touched] // by line
	weight []int32            // of the line touched last in a turn, 0 if it was touched since
	sum    []lineCount        // entry i of the i&-i turns up to i
	total  lineCount
	line   uint64 // of the last turn
}

// lineCount is how many lines were touched (once), and how many lines of the whole run these
// stand for (stands).
type lineCount struct{ once, stands int64 }

// moment is when a line is touched: in which iteration, 0 being one that stands for no
// others, and how many it stands for.
type moment struct {
	iteration int32
	stands    int64
}

// touched is what is known of a line: the turn of its last touch, from 1 on, the iteration of that touch, and how
// many lines it stands for. It has the most lines, too, that came between two of its touches since it was last stored
// to.
type touched struct {
	turn, stands, iteration int32
	most                    int64
}

// mostTurns bounds what is kept of a CTA: what comes after is not measured.
const mostTurns = 1 << 16

// touch takes a touch of a line and returns how many lines came since the last one;
// for a store, the most that came between two touches since the last store, since so
// often may it have been written back. False: there was no touch, or nothing else came
// since.
func (t *distances) touch(line uint64, at moment, store bool) (between int64, again bool) {
	n := len(t.weight)
	if n > 1 && line == t.line && !store || n > mostTurns || at.stands == 0 {
		return 0, false
	}
	if n == 0 {
		if t.last == nil {
			t.last = newRunTable[touched]()
		}
		t.weight, t.sum, n = append(t.weight, 0), append(t.sum, make([]lineCount, 1<<10)...), 1
	}
	if n == len(t.sum) { // the sum of all stands where the first of the new turns that covers them does
		t.sum = append(t.sum, make([]lineCount, n)...)
		t.sum[n] = t.total
	}
	e := t.last.entry(line)
	if again = e.turn > 0; !again {
		e.stands = int32(min(at.stands, 1<<30))
	} else {
		upTo := t.upTo(e.turn)
		between = t.total.stands - upTo.stands
		if at.iteration > 0 && e.iteration == at.iteration {
			between = t.total.once - upTo.once
		}
		t.add(e.turn, lineCount{-1, -int64(t.weight[e.turn])})
		t.weight[e.turn] = 0
		e.most = max(e.most, between)
	}
	if store {
		between, e.most = e.most, 0
	}
	e.turn, e.iteration = int32(n), at.iteration
	t.weight = append(t.weight, e.stands)
	t.line = line
	t.add(int32(n), lineCount{1, int64(t.weight[n])})
	return between, again
}

// reset forgets all, but keeps its storage.
func (t *distances) reset() {
	if t.last != nil {
		t.last.reset()
	}
	t.weight, t.sum, t.total, t.line = t.weight[:0], t.sum[:0], lineCount{}, 0
}

func (t *distances) add(turn int32, l lineCount) {
	t.total.add(l)
	for i := int(turn); i < len(t.sum); i += i & -i {
		t.sum[i].add(l)
	}
}

func (t *distances) upTo(turn int32) (n lineCount) {
	for i := turn; i > 0; i &= i - 1 {
		n.add(t.sum[i])
	}
	return n
}

func (l *lineCount) add(o lineCount) { l.once, l.stands = l.once+o.once, l.stands+o.stands }

// spans counts touches by how many lines came between, in classes: each distance up to 15 by
// itself, then sixteen classes to each doubling.
type spans [512]int64

// class is that of a distance, which is at least lines(class) and less than lines(class+1).
func class(between int64) int {
	if between < 16 {
		return int(between)
	}
	e := bits.Len64(uint64(between)) - 5
	return min(16*e+int(between>>e), len(spans{})-1)
}

func lines(class int) float64 {
	if class < 16 {
		return float64(class)
	}
	e := class/16 - 1
	return float64(int64(class%16+16) << e)
}

// lost is the share of what a CTA touches again by an instruction, too far apart for L1, that
// L2 has lost by then. All CTAs that run at a time have touched as many lines of their own
// since, and take room in L2 as what a launch leaves for the next one does. Lines that CTAs
// have in common count once, and are touched by each of those that share them. CTAs that copy tiles come back to those
// they have in common at about the same time: the first brings them for all.
//
// Evidence: a persistent product of 8192 by 8192 in clusters of two (pranjalssh/fast.cu, kernel 9, whose README has
// 808 TFLOP/s for its last kernel) is predicted at 678 TFLOP/s, and at 397 with copies lost to each.
func (p *Plan) lost(s *spans, g *group, d *Device, copies bool, own, ctas float64) float64 {
	if s == nil || g.random || g.broadcast || d.Resident == 0 {
		return 0
	}
	resident := min(d.Resident, ctas)
	sharers := max(resident/max(g.share*ctas, 1), 1)
	var all, gone float64
	for c, n := range s {
		if lines(c) < d.L1Lines/d.CTAsPerSM {
			continue
		}
		all += float64(n)
		room := min((lines(c)+lines(c+1))/2*lineBytes*resident*own/sharers, p.Footprint)
		gone += float64(n) * (1 - d.kept(d.Kept, d.KeptUntil, room))
	}
	if all == 0 {
		return 0
	}
	if copies {
		gone /= sharers
	}
	return gone / all
}

// displacing reports whether the lines that come between two touches of a line do not fit L1,
// with all CTAs of an SM doing the same, and not all of them are recorded.
func (s *Survey) displacing(d Device) bool {
	if !slices.Contains(s.skipped, true) {
		return false
	}
	for _, again := range s.again {
		if again == nil {
			continue
		}
		for c, n := range again {
			if n > 0 && lines(c+1)*d.CTAsPerSM > d.L1Lines {
				return true
			}
		}
	}
	return false
}

// passing reports whether what CTAs have in common leaves L1 between one CTA and the next. CTAs that start evenly in
// turn come to a line one after another, and an SM touches as many lines in between as one of them does in all. Those
// that start together come to it together, and the next ones after all that these touch has passed.
func (s *Survey) passing(d Device) bool { return float64(s.distances.total.stands) > d.L1Lines }
