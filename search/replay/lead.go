package replay

import (
	"fmt"
	"math"
	"strings"
)

// Lead compares one strategy with the best of the others at one mark of a
// space.
type Lead struct {
	Own, Other Point
	Rival      string  // the best of the others there
	Error      float64 // standard error of the difference, seed by seed
}

// Standing says who is ahead.
func (l *Lead) Standing() Standing {
	switch d := l.Own.Ratio - l.Other.Ratio; {
	case d <= 0:
		return Ahead
	case d <= 2*l.Error:
		return Level
	}
	return Behind
}

// Standing is a strategy's against the best of the others. The zero value is
// invalid.
type Standing uint8

// Standings.
const (
	StandingInvalid Standing = iota
	Ahead                    // at or under the mean of the best of the others
	Level                    // above it by no more than two standard errors
	Behind
)

// String returns the standing in words.
func (s Standing) String() string {
	return [...]string{"invalid", "at or under", "within the error", "above"}[s%4]
}

// Leads compares a strategy with the others on the scores of one space, mark by
// mark; nil without both. Of rivals with the same mean the first counts.
func Leads(scores []Score, strategy string) []Lead {
	own := -1
	for k, s := range scores {
		if s.Strategy == strategy {
			own = k
		}
	}
	if own < 0 || len(scores) < 2 {
		return nil
	}
	var leads []Lead
	for m, p := range scores[own].Points {
		rival := -1
		for k, s := range scores {
			if k != own && m < len(s.Points) && (rival < 0 || s.Points[m].Ratio < scores[rival].Points[m].Ratio) {
				rival = k
			}
		}
		if rival < 0 {
			break
		}
		l := Lead{Own: p, Other: scores[rival].Points[m], Rival: scores[rival].Strategy}
		l.Error = differenceError(scores[own].ratios[m], scores[rival].ratios[m])
		leads = append(leads, l)
	}
	return leads
}

// differenceError returns the standard error of the mean difference of two
// samples of the same seeds.
func differenceError(a, b []float64) float64 {
	n := min(len(a), len(b))
	d := make([]float64, n)
	for k := range d {
		d[k] = a[k] - b[k]
	}
	return standardError(d)
}

// versus writes how a strategy stands against the best of the others, a row a
// space: where it is not at or under that, by how much and who.
func versus(b *strings.Builder, groups [][]Score, strategy string) {
	var count [Behind + 1]int
	var rows strings.Builder
	for _, group := range groups {
		leads := Leads(group, strategy)
		if leads == nil {
			continue
		}
		fmt.Fprintf(&rows, "| %s |", group[0].Space)
		for m := range Marks {
			if m >= len(leads) {
				rows.WriteString(" - |")
				continue
			}
			l := &leads[m]
			cell := fmt.Sprintf("%.3f ± %.3f", l.Own.Ratio, l.Own.Error)
			rival := fmt.Sprintf("%s %.3f", l.Rival, l.Other.Ratio)
			if l.Standing() == Ahead {
				cell = "**" + cell + "**"
			} else {
				rival += fmt.Sprintf(", %+.1f errors", (l.Own.Ratio-l.Other.Ratio)/math.Max(l.Error, 1e-9))
			}
			if l.Own.Evaluations >= from {
				count[l.Standing()]++
			}
			fmt.Fprintf(&rows, " %s (%s) |", cell, rival)
		}
		rows.WriteString("\n")
	}
	if rows.Len() == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s against the best other strategy of each place\n\n| SPACE |", strategy)
	for _, n := range Marks {
		fmt.Fprintf(b, " @%d |", n)
	}
	fmt.Fprintf(b, "\n|---|%s\n%s\n", strings.Repeat("---|", len(Marks)), rows.String())
	fmt.Fprintf(b, "From %d evaluations on: %d places %s the best other strategy's mean, %d %s (two standard errors of the difference), %d %s.\n",
		from, count[Ahead], Ahead, count[Level], Level, count[Behind], Behind)
}

// from is the mark from which on places are counted: before, strategies have
// had little to learn from.
const from = 50
