package intake

import "testing"

// A heap of which little is alive grows to gcHeap before it is collected, a
// large one by leastPercent.
func TestPercent(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct{ live, goal, old, want uint64 }{
		{40 * mib, 64 * mib, 60, 100}, // 24 MiB at 60: 40 at 100
		{20 * mib, 32 * mib, 60, 300},
		{1 * mib, 4 * mib, 100, mostPercent},
		{79 * mib, 130 * mib, 60, leastPercent},
		{200 * mib, 400 * mib, 100, leastPercent},
		{0, 0, 100, leastPercent},
	} {
		if got := percent(c.live, c.goal, c.old); got != c.want {
			t.Errorf("%d MiB alive, %d MiB at %d %%: %d %%, want %d", c.live/mib, c.goal/mib, c.old, got, c.want)
		}
	}
}
