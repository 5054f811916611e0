package footprint

import (
	"testing"

	"pgregory.net/rapid"
)

// stacked is the distance by definition: the lines of a list that stand before one in
// the order of their last touch, and what each stands for.
type stacked struct {
	line, stands, iteration, most int64
}

func TestDistancesAreStackDistances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d distances
		var list []stacked // the one touched last comes first
		for range rapid.IntRange(1, 3000).Draw(t, "touches") {
			line, weight, store := rapid.Uint64Range(0, 40).Draw(t, "line"), rapid.Int64Range(0, 3).Draw(t, "weight"), rapid.Bool().Draw(t, "store")
			iteration := rapid.Int32Range(0, 2).Draw(t, "iteration")
			got, again := d.touch(line, moment{iteration, weight}, store)
			if weight == 0 || len(list) > 0 && list[0].line == int64(line) && !store {
				if again {
					t.Fatal("nothing came between, or the touch does not count")
				}
				continue
			}
			e, want, found := stacked{line: int64(line), stands: weight}, int64(0), false
			same := int64(0)
			for k, o := range list {
				if found = o.line == e.line; found {
					e = o
					list = append(list[:k], list[k+1:]...)
					break
				}
				want += o.stands
				same++
			}
			if found && iteration > 0 && e.iteration == int64(iteration) {
				want = same
			}
			e.iteration = int64(iteration)
			if found != again {
				t.Fatalf("line %d touched again: %v, want %v", line, again, found)
			}
			if found {
				e.most = max(e.most, want)
			}
			if store {
				want, e.most = e.most, 0
			}
			if found && got != want {
				t.Fatalf("%d lines between, want %d", got, want)
			}
			list = append([]stacked{e}, list...)
		}
	})
}

func TestClassesAreInOrder(t *testing.T) {
	for n := range int64(1 << 20) {
		c := class(n)
		if lo, hi := lines(c), lines(c+1); float64(n) < lo || float64(n) >= hi {
			t.Fatalf("%d is in class %d, from %v to %v", n, c, lo, hi)
		}
	}
	if c := class(1 << 60); c != len(spans{})-1 {
		t.Errorf("class %d of what is out of range", c)
	}
}

// rowsTwice has CTAs read a row of lines each, then again.
func rowsTwice(lines int, row func(x int) uint64) *Plan {
	grid := [3]int{8192, 1, 1}
	d := device(grid)
	d.Resident, d.CTAsPerSM, d.L1Lines = 2112, 16, 256
	return visit(grid, func(x, _ int, touch func(uint64, uint8)) {
		for range 2 {
			for k := range uint64(lines) {
				touch(row(x)*uint64(lines)+k, 0xf)
			}
		}
	}).Plan(d)
}

func TestRowsReadTwice(t *testing.T) {
	own := func(x int) uint64 { return uint64(x) }
	for _, c := range []struct {
		name     string
		lines    int
		row      func(x int) uint64
		low, top float64
	}{
		{"of 34 MB all but a little is found", 128, own, 0, 0.1},
		{"of 69 MB nothing is", 256, own, 0.99, 1},
		{"what L1 holds is not looked for", 8, own, 0, 0},
		{"a table of all CTAs stays", 256, func(int) uint64 { return 0 }, 0, 0},
		{"of pairs of CTAs that share rows half the room is taken", 256, func(x int) uint64 { return uint64(x / 2) }, 0, 0.1},
	} {
		if p := rowsTwice(c.lines, c.row); p.ReadAgain[0] < c.low || p.ReadAgain[0] > c.top {
			t.Errorf("%s: %.2f is read again, want %.2f to %.2f", c.name, p.ReadAgain[0], c.low, c.top)
		}
	}
}

// What all CTAs read stays in L1 for the next as long as one touches no more than L1 holds.
func TestPassing(t *testing.T) {
	for lines, want := range map[int]bool{8: false, 128: false, 256: false, 257: true, 1024: true} {
		if p := rowsTwice(lines, func(int) uint64 { return 0 }); p.Passing != want {
			t.Errorf("CTAs of %d lines on an SM of 256: passing %v, want %v", lines, p.Passing, want)
		}
	}
}
