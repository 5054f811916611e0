package replay

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// BySpace splits scores into those of each space, in order of appearance.
func BySpace(scores []Score) [][]Score {
	var groups [][]Score
	where := map[string]int{}
	for _, s := range scores {
		k, ok := where[s.Space]
		if !ok {
			k = len(groups)
			where[s.Space] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], s)
	}
	return groups
}

// Table returns the scores as text, a row each. Columns are the mean of best over optimum at each mark (and after
// the budget, if last says so). Then come the mean evaluations to within 5 % and 1 % of the optimum with the share
// of seeds that got there, and the area score. Where strategies stop early there are also the mean evaluations.
func Table(scores []Score, last bool) (header []string, rows [][]string) {
	header = []string{"SPACE", "STRATEGY"}
	for _, n := range Marks {
		header = append(header, fmt.Sprintf("@%d", n))
	}
	if last {
		header = append(header, "LAST")
	}
	header = append(header, "TO 5 %", "TO 1 %", "AREA")
	early := slices.ContainsFunc(scores, func(s Score) bool { return s.Used < float64(s.Budget) })
	if early {
		header = append(header, "STOPS")
	}
	for _, s := range scores {
		row := []string{s.Space, s.Strategy}
		for k := range Marks {
			cell := "-"
			if k < len(s.Points) {
				cell = fmt.Sprintf("%.3f", s.Points[k].Ratio)
			}
			row = append(row, cell)
		}
		if last {
			row = append(row, fmt.Sprintf("%.3f", s.Last.Ratio))
		}
		row = append(row, reached(s.Within5, s.Seeds), reached(s.Within1, s.Seeds), fmt.Sprintf("%.3f", s.Area))
		if early {
			row = append(row, fmt.Sprintf("%.0f", s.Used))
		}
		rows = append(rows, row)
	}
	return header, rows
}

func reached(r Reach, seeds int) string {
	return fmt.Sprintf("%.0f (%.0f %%)", r.Evaluations, 100*float64(r.Seeds)/float64(seeds))
}

// Markdown writes how a strategy stands against the others, unless it is "",
// and a table for each space; the best of a column is bold. Image, if not nil,
// gives the address of a space's plot.
func Markdown(w io.Writer, scores []Score, strategy string, image func(space string) string) error {
	var b strings.Builder
	versus(&b, BySpace(scores), strategy)
	for _, group := range BySpace(scores) {
		header, rows := Table(group, false)
		fmt.Fprintf(&b, "\n### %s\n\n", group[0].Space)
		if image != nil {
			fmt.Fprintf(&b, "![mean excess over the optimum, by evaluations](%s)\n\n", image(group[0].Space))
		}
		fmt.Fprintf(&b, "| %s |\n|---|%s\n", strings.Join(header[1:], " | "), strings.Repeat("--:|", len(header)-2))
		best := bestRatios(group)
		for k, row := range rows {
			for m, p := range group[k].Points {
				if p.Ratio == best[m] {
					row[2+m] = "**" + row[2+m] + "**"
				}
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row[1:], " | "))
		}
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// MarkdownTable writes a table whose first two columns are names.
func MarkdownTable(w io.Writer, header []string, rows [][]string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s |\n|---|---|%s\n", strings.Join(header, " | "), strings.Repeat("--:|", len(header)-2))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	b.WriteString("\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// bestRatios returns the lowest ratio at each mark.
func bestRatios(scores []Score) []float64 {
	var best []float64
	for _, s := range scores {
		for m, p := range s.Points {
			if m == len(best) {
				best = append(best, p.Ratio)
			}
			best[m] = min(best[m], p.Ratio)
		}
	}
	return best
}
