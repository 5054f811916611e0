package measure

import (
	"fmt"
	"slices"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/rpc"
)

// Selected are the fastest, then those of which the prediction is unsure.
func TestSelection(t *testing.T) {
	top := topOf("dram 10", "dram 11", "dram 12", "dram 13", "dram 14", "fp32 15", "dram 16 unsure", "dram 17")
	s := selectFrom(top, 4)
	if want := []string{"X=0", "X=1", "X=2", "X=3", "X=6"}; !slices.Equal(s.configs, want) || s.unsure != 1 {
		t.Errorf("selected are %v, %d of them unsure, want %v", s.configs, s.unsure, want)
	}
	s = selectFrom(topOf("dram 10", "dram 11", "fp32 12", "dram 13"), 2)
	if want := []string{"X=0", "X=1", "X=2"}; !slices.Equal(s.configs, want) {
		t.Errorf("selected are %v, want %v: of another bound", s.configs, want)
	}
	if s.predicted["X=2"].rank != 3 || s.predicted["X=2"].timeUS != 12 {
		t.Errorf("predicted of X=2: %+v", s.predicted["X=2"])
	}
}

// topOf is an answer of configurations X=0, X=1, …, each "BOUND TIME [unsure]".
func topOf(rows ...string) *warptunev1.TopResponse {
	top := &warptunev1.TopResponse{Names: []string{"X"}}
	for i, text := range rows {
		var bound, unsure string
		o := &warptunev1.Outcome{Validity: warptunev1.Validity_VALIDITY_CORRECT}
		_, _ = fmt.Sscan(text, &bound, &o.TimeUs, &unsure)
		if o.Bound = bound; unsure != "" {
			o.Metrics = map[string]float64{evaluate.SamplingError: 0.2}
		}
		top.Results = append(top.Results, &warptunev1.Result{Config: rpc.FromValues([]search.Value{search.OfInt(int64(i))}), Outcome: o})
	}
	return top
}
