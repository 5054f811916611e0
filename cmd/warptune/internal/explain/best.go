package explain

import (
	"context"
	"fmt"
	"os"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/cmd/warptune/internal/stored"
	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/record"
)

// mostRanked is how many configurations are ranked where none is given or stored: 10 to 20 ms of processor each.
const mostRanked = 32

// choose takes the best configuration that is stored, else the best of some.
func (x *explanation) choose(ctx context.Context) error {
	if text, ok := x.stored(ctx); ok {
		x.configs, x.from = []string{text}, "the best of what is stored"
		return nil
	}
	space, err := x.def.Space(x.problem, nil)
	if err != nil {
		return err
	}
	var records []record.Record
	var texts []string
	n := min(space.Size(), mostRanked)
	if n == 0 {
		return tuner.Errorf(tuner.Invalid, "explain", "no configuration of %s satisfies its constraints: \"warptune space\" shows which one leaves none", x.def.Name)
	}
	for i := range n {
		text := space.At(spread(i, n, space.Size())).String()
		rec, err := input.ConfigRecord(x.def, text, x.problem)
		if err != nil {
			return err
		}
		rec.Line = int(i) + 1
		records, texts = append(records, rec), append(texts, text)
	}
	batch := x.batch
	batch.Level, batch.Check, batch.Compare, batch.Slots = simengine.Model, simengine.CheckNone, false, x.Slots
	results, err := batch.Run(ctx, records)
	if err != nil {
		return err
	}
	best := -1
	for i := range results {
		if o := &results[i].Outcome; o.Validity == tuner.Correct && (best < 0 || o.TimeUS < results[best].Outcome.TimeUS) {
			best = i
		}
	}
	if best < 0 {
		return fmt.Errorf("none of %d configurations runs, e.g. %s: %s", n, texts[0], results[0].Outcome.Message)
	}
	x.configs = []string{texts[best]}
	x.from = fmt.Sprintf("the fastest of %d by the closed-form model", n)
	if n < space.Size() {
		x.from = fmt.Sprintf("the fastest by the closed-form model of %d configurations, spread evenly over all %d; \"warptune tune\" evaluates more", n, space.Size())
	}
	return nil
}

// spread is the i-th of n places that lie evenly among size, without overflow.
func spread(i, n, size int64) int64 { return i*(size/n) + i*(size%n)/n }

// stored is the best configuration that a sweep found, where there is one for what is asked for.
func (x *explanation) stored(ctx context.Context) (text string, ok bool) {
	if _, err := os.Stat(x.conn.Path()); err != nil && x.conn.Coordinator == "" {
		return "", false
	}
	q, err := stored.QuestionOf(x.def, x.arch, x.problem)
	if err != nil {
		return "", false
	}
	err = x.conn.With(ctx, func(c *connect.Client) error {
		r, err := c.Best(ctx, q.BestRequest)
		if err != nil {
			return err
		}
		if ok = r.GetMatch() == warptunev1.BestMatch_BEST_MATCH_EXACT && len(r.GetChanged()) == 0 && q.Fits(r) == nil; ok {
			text = message.ConfigText(r.GetNames(), r.GetResult().GetConfig())
		}
		return nil
	})
	return text, ok && err == nil
}
