package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// Where the summaries stand: between <!-- begin NAME --> and <!-- end NAME --> of a file.
var places = []struct {
	file, name string
	table      func(*generator) (string, error)
}{
	{"docs/FIDELITY.md", "summary", (*generator).summaryTable},
	{"README.md", "trust", (*generator).trustTable},
}

func (g *generator) writeSummaries() error {
	return g.summaries(func(file string, _, after []byte) error { return os.WriteFile(file, after, 0o666) })
}

func (g *generator) checkSummaries() error {
	return g.summaries(func(file string, before, after []byte) error {
		if !bytes.Equal(before, after) {
			return fmt.Errorf("%s says something else than the pages of docs/fidelity: go run ./docs/gen", file)
		}
		return nil
	})
}

// summaries hands over each file that holds a summary, as it is and as it should be.
func (g *generator) summaries(do func(file string, before, after []byte) error) error {
	for _, p := range places {
		table, err := p.table(g)
		if err != nil {
			return err
		}
		file := g.path(p.file)
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		begin, end := "<!-- begin "+p.name+" -->\n", "<!-- end "+p.name+" -->\n"
		head, rest, ok := strings.Cut(string(text), begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return fmt.Errorf("%s: no place for a table: want the lines %q and %q", file, begin, end)
		}
		if err := do(file, text, []byte(head+begin+"\n"+table+"\n"+end+tail)); err != nil {
			return err
		}
	}
	return nil
}

// summaryTable has a row for each data set: both levels, blind and now.
func (g *generator) summaryTable() (string, error) {
	var b strings.Builder
	b.WriteString("| data set | configurations | kernels | regret@1, blind | now | MAPE, blind | now |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for i := range g.sets.Sets {
		s := &g.sets.Sets[i]
		cycle, err := g.read(s, "cycle")
		if err != nil {
			return "", err
		}
		model, err := g.read(s, "model")
		if err != nil {
			return "", err
		}
		now := [2]string{regret(&cycle.Score), percent(&cycle.Score)}
		if model != nil {
			now[0] += " / " + regret(&model.Score)
			now[1] += " / " + percent(&model.Score)
		}
		name := s.Name
		if s.Latest == nil {
			name = fmt.Sprintf("[%s](fidelity/%s.md)", s.Name, s.Name)
		}
		blind := blindly(s)
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s | %s | %s |\n", name, thousands(s.Configurations), s.Kernels, blind[0], now[0], blind[1], now[1])
	}
	return b.String(), nil
}

func regret(s *datasets.Score) string {
	if s.Worst == 0 {
		return fmt.Sprintf("%.3f", s.Regret1)
	}
	return fmt.Sprintf("%.3f (%.2f)", s.Regret1, s.Worst)
}

func percent(s *datasets.Score) string { return fmt.Sprintf("%.0f %%", s.MAPE) }

// blindly is what blind versions came to: regret@1 and MAPE, at both levels, of each part.
func blindly(s *datasets.Set) (out [2]string) {
	for i, b := range s.Blind {
		if i > 0 {
			out[0] += "; "
			out[1] += "; "
		}
		out[0] += regret(b.Cycle)
		out[1] += percent(b.Cycle)
		if b.Model != nil {
			out[0] += " / " + regret(b.Model)
			out[1] += " / " + percent(b.Model)
		}
		if b.Half {
			out[0] += ", half"
		}
	}
	return out
}

// trustTable has the rows of README: means over data sets, at level cycle.
func (g *generator) trustTable() (string, error) {
	rows := []struct {
		title string
		of    func(*datasets.Set) bool
	}{
		{"developed on", func(s *datasets.Set) bool { return s.Role == datasets.Development }},
		{"seen: by the project, looked at since", func(s *datasets.Set) bool { return s.Role != datasets.Development && s.Author == datasets.Project }},
		{"independent: by somebody who saw nothing of the simulator", func(s *datasets.Set) bool { return s.Author == datasets.Independent && !byTriton(s) }},
		{"independent, of Triton, wgmma and TMA, on an H100", func(s *datasets.Set) bool { return s.Author == datasets.Independent && byTriton(s) }},
		{"others' search spaces", func(s *datasets.Set) bool { return s.Author == datasets.Others }},
	}
	var b strings.Builder
	b.WriteString("| kernels | data sets | configurations | picked, blind | time, blind | picked, now | time, now |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range rows {
		var blind, now mean
		n := 0
		for i := range g.sets.Sets {
			s := &g.sets.Sets[i]
			if !row.of(s) {
				continue
			}
			n++
			f, err := g.read(s, "cycle")
			if err != nil {
				return "", err
			}
			now.add(&f.Score, s.Groups, s.Configurations)
			for _, p := range s.Blind {
				blind.add(p.Cycle, or(p.Groups, s.Groups), or(p.Configurations, s.Configurations))
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", row.title, n, thousands(now.configurations), blind.cells(), now.cells())
	}
	return b.String(), nil
}

// byTriton reports whether a set is one of kernels as Triton compiles them, and others that use what it does.
func byTriton(s *datasets.Set) bool { return strings.HasPrefix(s.Compiler, "Triton") }

func or(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// mean is that of several data sets: regrets by their groups, errors by their configurations.
type mean struct {
	groups, configurations int
	logs, errors, worst    float64
}

func (m *mean) add(s *datasets.Score, groups, configurations int) {
	m.groups += groups
	m.configurations += configurations
	m.logs += math.Log(s.Regret1) * float64(groups)
	m.errors += s.MAPE * float64(configurations)
	m.worst = max(m.worst, s.Worst)
}

// cells are two cells of a table; empty ones of no data set.
func (m *mean) cells() string {
	if m.groups == 0 {
		return " | "
	}
	over := func(x float64) float64 { return 100 * (x - 1) }
	return fmt.Sprintf("%.1f %% (%.0f %%) | %.0f %%", over(math.Exp(m.logs/float64(m.groups))), over(m.worst), m.errors/float64(m.configurations))
}

// thousands is a number with commas.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
