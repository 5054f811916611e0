// Command gen writes the tables of docs that compare predictions with measurements: a page for each data set in
// docs/fidelity and docs/search, and from these pages the summary in docs/FIDELITY.md and the table in README.md.
//
//	go run ./docs/gen -warptune bin/warptune                       # every data set that is here
//	go run ./docs/gen -warptune bin/warptune h200-constant-tables  # one page; the summaries are of all pages
//	go run ./docs/gen -check                                       # do all tables say the same, of one version?
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

func main() {
	var g generator
	flag.StringVar(&g.warptune, "warptune", "", "the program that predicts; without it only the summaries are written, from the pages as they are")
	flag.StringVar(&g.root, "root", ".", "root of the checkout")
	flag.StringVar(&g.silicon, "silicon", "", "directory with the data sets that are not in the repository")
	check := flag.Bool("check", false, "write nothing; fail unless the pages are of one version of the simulator and the summaries say what they say")
	flag.Parse()
	if err := g.run(flag.Args(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generator writes the pages of a checkout.
type generator struct {
	warptune, root, silicon string
	sets                    *datasets.Manifest
}

func (g *generator) run(names []string, check bool) (err error) {
	if g.sets, err = datasets.Load(g.path("deploy/calibrate/datasets")); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := g.sets.Find(name); err != nil {
			return err
		}
	}
	if check {
		return errors.Join(g.checkVersions(), g.checkSummaries())
	}
	if g.warptune != "" {
		for i := range g.sets.Sets {
			if s := &g.sets.Sets[i]; len(names) == 0 || slices.Contains(names, s.Name) {
				if err := g.writePages(s); err != nil {
					return fmt.Errorf("%s: %w", s.Name, err)
				}
			}
		}
	}
	return g.writeSummaries()
}
