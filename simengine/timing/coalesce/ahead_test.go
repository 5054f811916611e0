package coalesce

import (
	"slices"
	"testing"

	"github.com/warptune/warptune/simengine/trace"
)

func TestAhead(t *testing.T) {
	for _, c := range []struct {
		name      string
		step, out int64
		sectors   [2]uint8
		want      []uint64
	}{
		{"planes of whole lines", 10, 20, [2]uint8{0xf, 0xf}, []uint64{120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220, 230, 240, 250, 260, 270}},
		{"as many as were left out", 10, 3, [2]uint8{0xf, 0xf}, []uint64{120, 130, 140}},
		{"parts that follow one another", 10, 4, [2]uint8{0x3, 0xc}, []uint64{121, 131, 142, 152}},
		{"of other parts of lines only the next is known", 10, 20, [2]uint8{0x5, 0xa}, []uint64{120}},
		{"the same line again", 0, 20, [2]uint8{0xf, 0xf}, nil},
	} {
		w := trace.Warp{
			Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2, Repeat: c.out}},
			Accesses: []trace.Access{{PC: 7, NLines: 1}, {PC: 7, First: 1, NLines: 1}},
			Lines:    []trace.Line{{Addr: 100, Sectors: c.sectors[0]}, {Addr: 100 + uint64(c.step), Sectors: c.sectors[1]}},
		}
		var got []uint64
		Ahead(&w, func(_ *trace.Access, line uint64, _ uint8) { got = append(got, line) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v, want %v", c.name, got, c.want)
		}
	}
}

// Where data points to is told by steps that differ: nothing is known of what comes next.
func TestAheadOfGathers(t *testing.T) {
	for _, c := range []struct {
		first int64 // step before the last one, which is 10
		want  []uint64
	}{{10, []uint64{130, 140}}, {-700, nil}} {
		w := trace.Warp{
			Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 1}, {Block: 1, Access: 2}, {Block: 1, Access: 3, Repeat: 2}},
			Accesses: []trace.Access{{PC: 7, NLines: 1}, {PC: 7, First: 1, NLines: 1}, {PC: 7, First: 2, NLines: 1}},
			Lines:    []trace.Line{{Addr: uint64(110 - c.first), Sectors: 0xf}, {Addr: 110, Sectors: 0xf}, {Addr: 120, Sectors: 0xf}},
		}
		var got []uint64
		Ahead(&w, func(_ *trace.Access, line uint64, _ uint8) { got = append(got, line) })
		if !slices.Equal(got, c.want) {
			t.Errorf("steps of %d and 10: lines %v, want %v", c.first, got, c.want)
		}
	}
}

// What is left out is told only by two iterations that are alike, and a line of an
// access that is not the same goes nowhere.
func TestLeftOutAt(t *testing.T) {
	one := func(pc int32, first int32) trace.Access { return trace.Access{PC: pc, First: first, NLines: 1} }
	w := trace.Warp{
		Steps: []trace.Step{
			{Block: 1}, {Block: 1, Access: 2}, {Block: 1, Access: 4, Repeat: 9}, {Block: 2, Access: 4}, {Block: 2, Access: 4, Repeat: 5},
		},
		Accesses: []trace.Access{one(7, 0), one(8, 1), one(7, 2), one(9, 3)},
		Lines:    []trace.Line{{Addr: 10}, {Addr: 20}, {Addr: 13}, {Addr: 21}},
	}
	for step := range w.Steps {
		o, ok := LeftOutAt(&w, int32(step))
		if ok != (step == 2) {
			t.Fatalf("step %d: left out %v", step, ok)
		}
		if !ok {
			continue
		}
		if l, by, _ := o.Line(&w, 0, 0); o.Repeat != 9 || o.N != 2 || l.Addr != 13 || by != 3 {
			t.Errorf("%+v: line %d goes on by %d, want 13 by 3", o, l.Addr, by)
		}
		if _, by, _ := o.Line(&w, 1, 0); by != 0 {
			t.Errorf("the line of another instruction goes on by %d", by)
		}
	}
}

// What iterations left out touch is reported in the order in which they do; a line that they all come
// back to is touched last, whatever room there is.
func TestTouch(t *testing.T) {
	w := trace.Warp{
		Steps:    []trace.Step{{Block: 1}, {Block: 1, Access: 2}, {Block: 1, Access: 4, Repeat: 9}},
		Accesses: []trace.Access{{PC: 7, NLines: 1}, {PC: 8, First: 1, NLines: 1}, {PC: 7, First: 2, NLines: 1}, {PC: 8, First: 3, NLines: 1}},
		Lines:    []trace.Line{{Addr: 10}, {Addr: 500}, {Addr: 13}, {Addr: 500}},
	}
	o, ok := LeftOutAt(&w, 2)
	if !ok {
		t.Fatal("nothing left out")
	}
	var got []uint64
	o.Touch(&w, 6, func(*trace.Access) bool { return true }, func(_ *trace.Access, line uint64) { got = append(got, line) })
	if want := []uint64{34, 37, 40, 500}; !slices.Equal(got, want) {
		t.Errorf("touched %v, want %v", got, want)
	}
}
