package fidelity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/score"
)

// measuredGroup is the configurations of a kernel, problem size and architecture that were
// measured on one GPU, with what is stored of their predictions.
type measuredGroup struct {
	score.Group
	Device string `json:"device"`
	Level  string `json:"level"` // of the predictions
	Engine string `json:"engine"`
	// Picked is the configuration of those measured that is predicted fastest, and Best the one measured fastest.
	Picked   string  `json:"picked"`
	PickedUS float64 `json:"picked_us"`
	Best     string  `json:"best"`
	BestUS   float64 `json:"best_us"`
	// Unpredicted are how many were measured of which no prediction is stored.
	Unpredicted int `json:"unpredicted"`

	order []string
	timed map[string]float64
}

// fidelityMeasured scores the stored predictions against everything that was measured.
func fidelityMeasured(ctx context.Context, a *cli.App, conn *connect.Connection) error {
	return conn.With(ctx, func(c *connect.Client) error {
		var sweeps []*warptunev1.Sweep
		for s, err := range rpc.Sweeps(ctx, c, &warptunev1.ListRequest{}) {
			if err != nil {
				return err
			}
			sweeps = append(sweeps, s)
		}
		groups, err := measuredGroups(ctx, c, sweeps)
		if err != nil {
			return err
		}
		if len(groups) == 0 {
			return errors.New("nothing was measured yet of which a prediction is stored: \"warptune measure\" and \"tune --confirm\" measure, on a machine with a GPU")
		}
		return printMeasuredGroups(a, groups)
	})
}

// sameQuestion is what a measured and a predicted sweep have in common where one tells of the other.
func sameQuestion(s *warptunev1.Spec) string {
	return fmt.Sprintf("%q %q %q %v", s.GetKernel(), s.GetBundle(), s.GetArchDigest(), s.GetProblem())
}

// measuredGroups joins what was measured with what was predicted by the newest sweep that did, at level cycle if one
// did.
func measuredGroups(ctx context.Context, c *connect.Client, sweeps []*warptunev1.Sweep) ([]*measuredGroup, error) {
	byKey := map[string]*measuredGroup{}
	of := map[string]string{} // of each group: its question
	var order []string
	for _, s := range sweeps { // newest first
		if message.LastLevel(s.GetSpec()) != tuner.LevelMeasured {
			continue
		}
		err := eachCorrect(ctx, c, s, func(text string, o *warptunev1.Outcome) {
			key := sameQuestion(s.GetSpec()) + o.GetDevice()
			g := byKey[key]
			if g == nil {
				g = &measuredGroup{Device: o.GetDevice(), timed: map[string]float64{}}
				g.Name = message.Target(s.GetSpec())
				byKey[key], of[key] = g, sameQuestion(s.GetSpec())
				order = append(order, key)
			}
			if _, ok := g.timed[text]; !ok {
				g.timed[text] = o.GetTimeUs()
				g.order = append(g.order, text)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	predicting := slices.Clone(sweeps)
	slices.SortStableFunc(predicting, func(a, b *warptunev1.Sweep) int {
		return cmp.Compare(message.LastLevel(a.GetSpec()), message.LastLevel(b.GetSpec())) // cycle before model
	})
	var groups []*measuredGroup
	for _, key := range order {
		g, predicted := byKey[key], map[string]float64{}
		for _, s := range predicting {
			level := message.LastLevel(s.GetSpec())
			if level == tuner.LevelMeasured || sameQuestion(s.GetSpec()) != of[key] || g.Level != "" && (g.Level != level || g.Engine != s.GetSpec().GetEngine()) {
				continue
			}
			g.Level, g.Engine = level, s.GetSpec().GetEngine()
			if err := eachCorrect(ctx, c, s, func(text string, o *warptunev1.Outcome) {
				if predicted[text] == 0 {
					predicted[text] = o.GetTimeUs()
				}
			}); err != nil {
				return nil, err
			}
		}
		if g.score(predicted) {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// score compares a group's times with predictions; false if there are none.
func (g *measuredGroup) score(predicted map[string]float64) bool {
	var pairs []score.Pair
	pick := 0.0
	for _, text := range g.order {
		p, t := predicted[text], g.timed[text]
		if p == 0 {
			g.Unpredicted++
			continue
		}
		pairs = append(pairs, score.Pair{Measured: t, Predicted: p})
		if pick == 0 || p < pick {
			pick, g.Picked, g.PickedUS = p, text, t
		}
		if g.BestUS == 0 || t < g.BestUS {
			g.Best, g.BestUS = text, t
		}
	}
	g.Group = score.Score(g.Name, pairs)
	return len(pairs) > 0
}

// eachCorrect calls f for each of a sweep's results at its last level that has a time.
func eachCorrect(ctx context.Context, c *connect.Client, s *warptunev1.Sweep, f func(config string, o *warptunev1.Outcome)) error {
	stream, err := c.Results(ctx, &warptunev1.ResultsRequest{Id: s.GetId()})
	if err != nil {
		return err
	}
	var names []string
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(page.GetNames()) > 0 {
			names = page.GetNames()
		}
		for _, r := range page.GetResults() {
			if r.GetOutcome().GetValidity() == warptunev1.Validity_VALIDITY_CORRECT && r.GetLevel() == message.LastLevel(s.GetSpec()) {
				f(search.Config{Names: names, Values: rpc.ToValues(r.GetConfig())}.String(), r.GetOutcome())
			}
		}
	}
}

func printMeasuredGroups(a *cli.App, groups []*measuredGroup) error {
	var plain []score.Group
	for _, g := range groups {
		plain = append(plain, g.Group)
	}
	sum := score.Summarise(plain)
	if a.JSON {
		return a.PrintJSON(map[string]any{"schema": "warptune.fidelity-measured.v1", "groups": groups, "summary": sum})
	}
	t := cli.NewTable(a.Stdout, "MEASURED", "CONFIGURATIONS", "ERROR", "RANKS", "PICKED", "OF TEN", "PREDICTED FASTEST", "TOOK", "MEASURED FASTEST", "TOOK")
	for _, g := range groups {
		t.Row(g.Name, strconv.Itoa(g.Configs), fmt.Sprintf("%.0f %%", 100*g.MAPE), fmt.Sprintf("%.2f", g.Spearman), fmt.Sprintf("%.3f", g.Regret1), fmt.Sprintf("%.3f", g.Regret10),
			g.Picked, plot.Microseconds(g.PickedUS), g.Best, plot.Microseconds(g.BestUS))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "%d groups of %d configurations: of those measured, the one predicted fastest took %.3f times the time of the fastest (geometric mean; %.3f at worst), the best of the ten predicted fastest %.3f; times are off by %.0f %%\n",
		sum.Groups, sum.Configs, sum.Regret1Geomean, sum.Regret1Worst, sum.Regret10Geomean, 100*sum.MAPE)
	devices := map[string]bool{}
	for _, g := range groups {
		devices[g.Device] = true
		if g.Unpredicted > 0 {
			fmt.Fprintf(a.Stdout, "%s: no prediction is stored of %d that were measured\n", cli.PlainText(g.Name), g.Unpredicted)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(devices)) {
		fmt.Fprintf(a.Stdout, "measured on %s\n", cli.PlainText(d))
	}
	return nil
}
