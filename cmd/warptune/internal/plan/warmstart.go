package plan

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner/exchange"
)

// warmConfigs is how many of a file's configurations a sweep begins with: the
// times are another machine's, so the best here is near the top of them rather
// than at it.
const warmConfigs = 16

// openRuns reads the files of other tuners given by --warm-start.
func openRuns(a *cli.App, names []string) ([]*exchange.Run, error) {
	var runs []*exchange.Run
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("--warm-start: %w", err)
		}
		run, err := exchange.Read(name, f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("--warm-start: %w", err)
		}
		a.Odd(name, run.Odd.String())
		runs = append(runs, run)
	}
	return runs, nil
}

// warmStart returns the configurations that a sweep of a space begins with: the
// fastest of each run, in turn, as text. What is used and what could not be is said
// on stderr.
func warmStart(a *cli.App, names []string, runs []*exchange.Run, space *search.Space) ([]string, error) {
	var best [][]search.Config
	for i, run := range runs {
		from := names[i]
		if of := strings.Join(slices.DeleteFunc([]string{run.Kernel, run.Device}, func(s string) bool { return s == "" }), " on "); of != "" {
			from += " (" + of + ")"
		}
		w, err := run.Warm(space, warmConfigs)
		switch {
		case err != nil:
			return nil, fmt.Errorf("--warm-start %s: %w", from, err)
		case w.Known+w.Others == 0:
			return nil, fmt.Errorf("--warm-start %s: none of its %d configurations has a time: all failed", from, len(run.Trials))
		case len(w.Best) == 0:
			return nil, fmt.Errorf("--warm-start %s: none of its %d configurations is in this space: is it of another kernel, or does --set leave them out?", from, len(run.Trials))
		case w.Others > 0:
			fmt.Fprintf(a.Stderr, "warptune: %s: %d of %d configurations with a time are not in this space\n", from, w.Others, w.Others+w.Known)
		}
		fmt.Fprintf(a.Stderr, "warptune: %s: begins with the best %d of %d configurations\n", from, len(w.Best), w.Known)
		best = append(best, w.Best)
	}
	var out []string
	seen := map[string]bool{}
	for rank := range warmConfigs {
		for _, configs := range best {
			if rank < len(configs) && !seen[configs[rank].String()] {
				seen[configs[rank].String()] = true
				out = append(out, configs[rank].String())
			}
		}
	}
	return out, nil
}
