package page

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/tuner"
)

// A table needs no metric that it does not ask for: of each one left out, some column shows it.
func TestTableAsksForItsMetrics(t *testing.T) {
	outcome := func(without string) Result {
		r := Result{Result: tuner.Result{Outcome: tuner.Outcome{Validity: tuner.Correct, TimeUS: 1, Metrics: map[string]float64{}}}}
		for i, name := range tableMetrics {
			if name != without {
				r.Outcome.Metrics[name] = float64(i + 1)
			}
		}
		return r
	}
	shown := func(r Result) (text string) {
		for _, c := range valueColumns() {
			if c.number != nil {
				v := c.number(&r)
				text += fmt.Sprintf("%s %v\n", c.Name, v)
			}
		}
		return text
	}
	whole := outcome("")
	all := shown(whole)
	for _, name := range tableMetrics {
		if shown(outcome(name)) == all {
			t.Errorf("%s is asked for, and no column has it", name)
		}
	}
	for _, c := range valueColumns() {
		v := 1.0
		if c.number != nil {
			v = c.number(&whole)
		}
		if unknown := v != v; unknown && c.Name != "floor_us" && c.Name != "checked_ctas" && c.Name != "ctas" {
			t.Errorf("column %s has a metric that is not asked for", c.Name)
		}
	}
}
