package regalloc

import (
	"reflect"
	"testing"

	"github.com/warptune/warptune/simengine/assemble/vreg"
)

// What is live where values find no registers is as the live ranges say, one point and one value at a time.
func TestUnplaced(t *testing.T) {
	points := 0
	for _, name := range []string{"fat_threads", "sgemm"} {
		f := catalogued(t, name, 0.7)
		if err := f.FindLiveness(); err != nil {
			t.Fatal(err)
		}
		var s Scratch
		const limit = 24
		f.Regs, f.General = New(f, f.Layout(nil), &s).Allocate(255, false)
		got := Unplaced(f, limit, 1, &s)
		var want []PressurePoint
		ranges := New(f, f.Layout(nil), new(Scratch)).liveRanges(0)
		for v := range ranges {
			if f.Values[v].File != vreg.General || len(ranges[v].all) == 0 || int(f.Regs[v])+int(f.Values[v].Words) <= limit {
				continue
			}
			p := PressurePoint{over: max(f.GeneralWords(vreg.Value(v)), 1)}
			for x := range ranges {
				for _, s := range ranges[x].all {
					if at := ranges[v].all[0].from; f.Values[x].File == vreg.General && s.from <= at && at < s.to {
						p.live = append(p.live, vreg.Value(x))
					}
				}
			}
			want = append(want, p)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d points differ from %d", name, len(got), len(want))
		}
		points += len(want)
	}
	if points == 0 {
		t.Error("no value was without a register")
	}
}
