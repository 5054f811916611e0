package measure

import (
	"fmt"
	"maps"
	"slices"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/search/correction"
	"github.com/warptune/warptune/tuner/plot"
)

// corrected is what a sweep's measurements say of the predictions that were not measured.
type corrected struct {
	// By is what corrects them; "": nothing that was measured foretells more than a common scale.
	By string `json:"by"`
	// Error is by what share what is left out is foretold, and Uncorrected by the common scale.
	Error       float64 `json:"error"`
	Uncorrected float64 `json:"uncorrected_error"`
	// Next is the fastest of those that were not measured, predicted, corrected; nil: there is none.
	Next   *search.Config `json:"next"`
	NextUS float64        `json:"next_us,omitempty"`
}

// correct corrects predictions by the measured rows; nil where fewer than two were predicted.
func (t *measuredTable) correct(space *search.Space) *corrected {
	var known []correction.Measured
	timed := map[string]bool{}
	for _, r := range t.rows {
		text := r.Parameters.String()
		p, ok := t.chosen.predicted[text]
		cfg, err := space.ParseConfig(text)
		if !ok || err != nil {
			continue
		}
		i, _ := space.IndexOf(cfg)
		timed[text] = true
		known = append(known, correction.Measured{Index: i, Bound: p.bound, Predicted: p.timeUS, Timed: r.MeasuredUS})
	}
	for _, f := range t.failed {
		timed[f.Parameters.String()] = true
	}
	if len(known) < 2 {
		return nil
	}
	c := correction.Fit(space, known)
	out := &corrected{By: c.Name, Error: c.Error, Uncorrected: c.Before}
	for _, text := range slices.SortedFunc(maps.Keys(t.chosen.predicted), t.chosen.byRank) {
		cfg, err := space.ParseConfig(text)
		if err != nil || timed[text] {
			continue
		}
		i, _ := space.IndexOf(cfg)
		p := t.chosen.predicted[text]
		if us := p.timeUS * c.Factor(i, p.bound); out.Next == nil || us < out.NextUS {
			out.Next, out.NextUS = &cfg, us
		}
	}
	return out
}

// printCorrected says what is to be expected of what was not measured.
func printCorrected(a *cli.App, c *corrected, best float64) {
	if c == nil || c.Next == nil {
		return
	}
	how := fmt.Sprintf("predicted, corrected by %s (off by %.0f %% of what is left out, uncorrected by %.0f %%)", c.By, 100*c.Error, 100*c.Uncorrected)
	if c.By == "" {
		how = "predicted, not corrected (what was measured foretells no more than a common scale)"
	}
	if c.NextUS < best {
		fmt.Fprintf(a.Stdout, "%s: %s may be faster, at %s; --config measures it\n", how, cli.PlainText(c.Next.String()), plot.Microseconds(c.NextUS))
	} else {
		fmt.Fprintf(a.Stdout, "%s: none that was not measured is expected to be faster, %s the next at %s\n", how, cli.PlainText(c.Next.String()), plot.Microseconds(c.NextUS))
	}
}
