package portfolio

import "testing"

// TestBandit: all arms are tried, the one that succeeds is used most, none is
// given up, and when success moves so do the questions.
func TestBandit(t *testing.T) {
	b := bandit{arms: 3, window: 40, explore: 0.1}
	run := func(good, n int) (uses [3]int) {
		for k := range n {
			arm := b.next(make([]int, 3))
			uses[arm]++
			b.used(arm, arm == good && k%2 == 0)
		}
		return uses
	}
	first := run(1, 200)
	if first[1] < 120 || first[0] == 0 || first[2] == 0 {
		t.Errorf("uses %v, arm 1 succeeds", first)
	}
	if then := run(2, 200); then[2] < 100 {
		t.Errorf("uses %v, now arm 2 succeeds", then)
	}
	if arm := (&bandit{arms: 3, window: 9, explore: 0.1}).next([]int{1, 1, 0}); arm != 2 {
		t.Errorf("arm %d, when only 2 has no question out", arm)
	}
}

func TestArea(t *testing.T) {
	b := bandit{arms: 2, window: 9}
	for _, success := range []bool{true, false, true} {
		b.used(0, success)
		b.used(1, !success)
	}
	if got := b.area(0); got != 2*4.0/12 {
		t.Errorf("area %v: the curve is 1, 1, 2", got)
	}
	if got := b.area(1); got != 2*2.0/12 {
		t.Errorf("area %v: the curve is 0, 1, 1", got)
	}
}
