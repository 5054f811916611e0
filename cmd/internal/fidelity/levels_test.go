package fidelity

import (
	"strings"
	"testing"
	"time"

	"github.com/warptune/warptune/cmd/internal/evaluate"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// A ranking that is right finds what evaluating everything finds, for less; what
// failed is not evaluated again, and records without a time do not count.
func TestCompareLevels(t *testing.T) {
	var records []record.Record
	var low, high []evaluate.Result
	for i := range 40 {
		at := float64(100 + i*7%40) // the best is the first
		rec := record.Record{Group: "g", TimeUS: &record.Time{Median: at}}
		m, c := tuner.Outcome{Validity: tuner.Correct, TimeUS: 2 * at, FloorUS: at / 2}, tuner.Outcome{Validity: tuner.Correct, TimeUS: at, FloorUS: at / 2}
		if i == 5 {
			m, c = tuner.Outcome{Validity: tuner.Runtime}, tuner.Outcome{Validity: tuner.Runtime}
		}
		if i == 6 {
			rec.TimeUS = nil
		}
		records = append(records, rec)
		low, high = append(low, evaluate.Result{Outcome: m, Processor: time.Millisecond}), append(high, evaluate.Result{Outcome: c, Processor: 10 * time.Millisecond})
	}
	l := CompareLevels(records, low, high)
	if len(l.Groups) != 1 || l.Total.Configs != 39 || l.Total.Regret1 != 1 || l.Total.FullMS != 10 {
		t.Fatalf("%+v", l)
	}
	for k, w := range l.Groups[0].Ways {
		if w.Regret1 != 1 || w.Best != 1 || w.Cost <= 0.1 || w.Evaluated > 38 {
			t.Errorf("%s: %+v", Goals[k].Name, w)
		}
	}
	if w := l.Groups[0].Ways; w[0].Evaluated != 8 || w[0].Gap <= 0 || w[2].Gap != 0 || w[1].Gap < 0 || w[1].Gap > 0.05 {
		t.Errorf("%+v", w)
	}
	var b strings.Builder
	if err := PrintLevels(&b, &l); err != nil || !strings.Contains(b.String(), "| g ") {
		t.Errorf("%v: %s", err, b.String())
	}
}
