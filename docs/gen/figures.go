package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// figures are what a page says of one level.
type figures struct {
	version string
	datasets.Score
}

var (
	summaryOf = map[string]*regexp.Regexp{"cycle": summary("cycle"), "model": summary("model")}
	versions  = regexp.MustCompile(`simulator ([0-9]+-[0-9a-f]+):`)
)

// summary finds the figures of a level in a page.
func summary(level string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)\n## Level ` + level + `\n\n[^\n]*simulator ([0-9]+-[0-9a-f]+):.*?` +
		`\nregret@1: geometric mean ([0-9.]+), worst group ([0-9.]+);.*?\nMAPE: ([0-9.]+) %`)
}

// read returns what a data set comes to at a level: by its page or, of a set that cannot be predicted here, by the
// manifest; nil where neither says what level model comes to.
func (g *generator) read(s *datasets.Set, level string) (*figures, error) {
	if s.Latest != nil {
		score := s.Latest.Cycle
		if level == "model" {
			score = s.Latest.Model
		}
		if score == nil {
			return nil, nil
		}
		return &figures{s.Latest.Version, *score}, nil
	}
	text, err := os.ReadFile(g.page(s))
	if err != nil {
		return nil, err
	}
	m := summaryOf[level].FindSubmatch(text)
	if m == nil {
		if level == "cycle" {
			return nil, fmt.Errorf("%s has no table of level cycle", g.page(s))
		}
		return nil, nil
	}
	f := figures{version: string(m[1])}
	for i, into := range []*float64{&f.Regret1, &f.Worst, &f.MAPE} {
		if *into, err = strconv.ParseFloat(string(m[2+i]), 64); err != nil {
			return nil, fmt.Errorf("%s: %w", g.page(s), err)
		}
	}
	return &f, nil
}
