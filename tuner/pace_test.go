package tuner

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// paceOf is a pace that has seen so many results by each second.
func paceOf(done ...int64) *pace {
	p := &pace{}
	for i, n := range done {
		p.note(time.Unix(int64(i), 0), n)
	}
	return p
}

// Results that arrive evenly have their rate, whatever it is, and take as long as is left of them.
func TestPaceOfEvenResults(t *testing.T) {
	for _, each := range []time.Duration{5 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second, 40 * time.Second} {
		p, total := &pace{}, int64(600)
		start := time.Unix(1000, 0)
		for now := time.Duration(0); now <= 300*each; now += max(each/3, time.Second) {
			p.note(start.Add(now), int64(now/each))
		}
		done := p.done[len(p.done)-1]
		if want := 1 / each.Seconds(); math.Abs(p.rate()/want-1) > 0.35 && each < 20*time.Second {
			t.Errorf("one each %s: %.3g a second, want %.3g", each, p.rate(), want)
		}
		want := time.Duration(total-done) * each
		if got := p.left(total - done); len(p.at) > 10 && (got < want*9/10 || got > want*11/10) {
			t.Errorf("one each %s: %s left, want %s", each, got, want)
		}
	}
}

// The first results wait for compilers. What they took is not held against the rest: nothing is said until a fiftieth is
// done, and what is said then is near.
func TestPaceAfterSlowCompilations(t *testing.T) {
	const total = 600
	var p pace
	said := false
	for second := range int64(120) {
		done := second / 20                  // one compilation each 20 s,
		if after := second - 60; after > 0 { // and then answers
			done = min(3+after*10, total)
		}
		p.note(time.Unix(second, 0), done)
		left := p.left(total - done)
		if second <= 60 && left != 0 { // 12 results are not there
			t.Errorf("after %d s and %d results: %s left", second, done, left)
		}
		if truth := time.Duration(total-done) * 100 * time.Millisecond; left > 0 && second >= 65 && done < total {
			said = true
			if left > 3*truth || second >= 110 && left > truth*16/10 {
				t.Errorf("after %d s: %s left, want %s", second, left, truth)
			}
		}
	}
	if !said {
		t.Error("nothing is ever said")
	}
}

func TestEnoughToTell(t *testing.T) {
	for _, c := range []struct {
		done, total int64
		want        bool
	}{{0, 5, false}, {9, 20, false}, {10, 500, true}, {11, 600, false}, {12, 600, true}, {199, 1 << 40, false}, {200, 1 << 40, true}} {
		if got := EnoughToTell(c.done, c.total); got != c.want {
			t.Errorf("%d of %d: %v", c.done, c.total, got)
		}
	}
}

// Nothing is left to say where nothing is done, all is done, or nothing goes on.
func TestPaceThatIsNotKnown(t *testing.T) {
	for name, p := range map[string]*pace{"unseen": {}, "once": paceOf(40), "few": paceOf(0, 1, 2, 3), "none": paceOf(0, 0, 0)} {
		if left := p.left(100); left != 0 {
			t.Errorf("%s: %s left", name, left)
		}
	}
	stopped := paceOf(0, 20, 40)
	for i := range int64(200) {
		stopped.note(time.Unix(10+i, 0), 40)
	}
	if left, rate := stopped.left(60), stopped.rate(); left != 0 || rate != 0 {
		t.Errorf("nothing goes on: %s left at %.3g a second", left, rate)
	}
	if left := paceOf(0, 50, 100).left(0); left != 0 {
		t.Errorf("of nothing: %s left", left)
	}
}

// However often it looks, a pace keeps some looks only, the first and the last among them, in order.
func TestPaceKeepsFewLooks(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var p pace
	now, done := time.Unix(0, 0), int64(0)
	for range 5000 {
		p.note(now, done)
		now, done = now.Add(time.Duration(1+random.IntN(3000))*time.Millisecond), done+random.Int64N(5)
	}
	if len(p.at) > paceLooks || !p.at[0].Equal(time.Unix(0, 0)) {
		t.Errorf("%d looks from %s on", len(p.at), p.at[0])
	}
	for i := 1; i < len(p.at); i++ {
		if !p.at[i].After(p.at[i-1]) || p.done[i] < p.done[i-1] {
			t.Fatalf("look %d is not after the one before", i)
		}
	}
}
