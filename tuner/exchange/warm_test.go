package exchange

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
)

func params(t *testing.T, text string) []search.Param {
	t.Helper()
	var out []search.Param
	for _, p := range strings.Fields(text) {
		name, values, _ := strings.Cut(p, "=")
		param := search.Param{Name: name}
		for _, v := range strings.Split(values, ",") {
			value, err := search.ParseValue(search.Int, v)
			if err != nil {
				t.Fatal(err)
			}
			param.Values = append(param.Values, value)
		}
		out = append(out, param)
	}
	return out
}

// The fastest come first, once each; failures, foreign values and foreign
// parameters are passed over; floats that are whole numbers are those numbers.
func TestWarm(t *testing.T) {
	space, err := search.New(params(t, "a=1,2,4 b=8,16 cap=0"), nil)
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Params: []string{"height", "b", "a"}}
	for i, v := range [][4]float64{{15, 8, 1, 30}, {15, 16, 4, 10}, {15, 16, 2, 20}, {17, 16, 4, 12}, {15, 32, 4, 5}, {15, 8, 2, 0}} {
		trial := Trial{Config: []search.Value{search.OfFloat(v[0]), search.OfFloat(v[1]), search.OfInt(int64(v[2]))}, Validity: tuner.Correct, TimeUS: v[3]}
		if i == 5 {
			trial.Validity = tuner.Compile
		}
		run.Trials = append(run.Trials, trial)
	}
	w, err := run.Warm(space, 2)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(w.Best, w.Known, w.Others); got != "[a=4,b=16,cap=0 a=2,b=16,cap=0] 4 1" {
		t.Error(got)
	}
	run.Params[0] = "x"
	wide, err := search.New(params(t, "a=1,2,4 b=8,16 cap=0,32"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = run.Warm(wide, 2); err == nil || !strings.Contains(err.Error(), "no parameter cap (it has x, b, a)") {
		t.Error(err)
	}
}
