package replay

import (
	"strconv"
	"strings"
	"testing"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/exhaustive"
)

// sure enumerates, and believes that a tenth is left until it has asked for
// three configurations, then nothing.
type sure struct {
	search.Strategy
	told int
}

func (s *sure) Tell(obs ...search.Observation) {
	s.told += len(obs)
	s.Strategy.Tell(obs...)
}

func (s *sure) Estimate() (search.Estimate, bool) {
	if s.told < 3 {
		return search.Estimate{Gain: 0.1, AtMost: 0.6}, s.told > 0
	}
	return search.Estimate{}, true
}

// TestBeliefs: what was believed stands beside what was left, by the size of the
// belief.
func TestBeliefs(t *testing.T) {
	var rows []Row
	for k, ms := range []float64{5, 4, 2.5, 8, 2, 9} {
		rows = append(rows, Row{Values: []string{strconv.Itoa(k)}, Time: ms, Valid: true})
	}
	rec, err := New("line", []string{"x"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	if got := Beliefs(rec, exhaustive.New(rec.Space), 10, 1); got != nil {
		t.Errorf("a strategy without beliefs believes %v", got)
	}
	got := Beliefs(rec, &sure{Strategy: exhaustive.New(rec.Space)}, 10, 1)
	for k, left := range []float64{0.6, 0.5, 0.2, 0.2, 0, 0} {
		if k >= len(got) || got[k].Left < left-1e-12 || got[k].Left > left+1e-12 {
			t.Fatalf("%+v left after %d answers, want %v", got, k+1, left)
		}
	}
	list := Calibrate("line", "sure", got)
	want := []Calibration{
		{"line", "sure", 0, 4, 0, 0.1, 0.5},
		{"line", "sure", 0.1, 2, 0.1, 0.55, 1},
	}
	if len(list) != len(want) {
		t.Fatalf("%+v, want %+v", list, want)
	}
	for k, w := range want {
		g := list[k]
		if d := g.Left - w.Left; g.Above != w.Above || g.Count != w.Count || g.Believed != w.Believed || d > 1e-12 || d < -1e-12 || g.Covered != w.Covered {
			t.Errorf("class %d: %+v, want %+v", k, g, w)
		}
	}
	var b strings.Builder
	header, table := CalibrationTable(list)
	if err := MarkdownTable(&b, header, table); err != nil || !strings.Contains(b.String(), "\n| line | sure | from 10.0 % | 2 | 10.0 % | 55.0 % | 100 % |\n\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
