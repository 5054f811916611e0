package fidelity

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// target is what a column of a table in docs/fidelity should come to in every group.
type target struct {
	set, level string // the page, and its table
	column     string
	limit      float64
	atLeast    bool    // else at most
	spread     float64 // of groups whose slowest is so much over the fastest
}

var targets = []target{
	{set: "h200-development", level: "cycle", column: "regret@1", limit: 1.05},
	{set: "h200-development", level: "cycle", column: "@10", limit: 1.01},
	{set: "h200-development", level: "cycle", column: "Spearman", limit: 0.85, atLeast: true, spread: 1.1},
	{set: "h200-development", level: "cycle", column: "MAPE", limit: 20},
	{set: "h200-development", level: "model", column: "regret@1", limit: 1.15},
	{set: "h200-development", level: "model", column: "@10", limit: 1.03},
	{set: "h200-development", level: "model", column: "Spearman", limit: 0.75, atLeast: true, spread: 1.1},
	{set: "h200-development", level: "model", column: "MAPE", limit: 40},
	{set: "h200-development-clang", level: "cycle", column: "regret@1", limit: 1.07},
	{set: "h200-development-clang", level: "cycle", column: "@10", limit: 1.03},
	{set: "h200-development-clang", level: "cycle", column: "Spearman", limit: 0.83, atLeast: true, spread: 1.1},
	{set: "h200-development-clang", level: "cycle", column: "MAPE", limit: 22},
}

// Every group that misses a target stands with its figure in the row of that
// target in "What misses", and nothing else does.
func TestMissesAreListed(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("FIDELITY.md")
	for _, tg := range targets {
		table := tg.set + " " + tg.level
		row := between(page, fmt.Sprintf("\n| `%s` %s |", table, tg.column), "\n")
		if row == "" {
			t.Errorf("\"What misses\" has no row for %s of %s", tg.column, table)
			continue
		}
		listed := map[string]bool{}
		for _, m := range regexp.MustCompile("`([^`]+)` ([-0-9.]+)").FindAllStringSubmatch(row, -1) {
			listed[m[1]+" "+m[2]] = true
		}
		for _, miss := range tg.misses(t, between(read("fidelity/"+tg.set+".md"), "\n## Groups, level cycle / level model\n", "\n## ")) {
			if !listed[miss] {
				t.Errorf("%s, %s: %s misses the target of %v and is not listed", table, tg.column, miss, tg.limit)
			}
			delete(listed, miss)
		}
		for miss := range listed {
			t.Errorf("%s, %s: %s is listed and misses nothing", table, tg.column, miss)
		}
	}
}

// misses lists the groups of a table that miss the target, with their figures.
func (tg target) misses(t *testing.T, table string) []string {
	t.Helper()
	var header, out []string
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(cells[i]), "%"))
			if cycle, model, two := strings.Cut(cells[i], " / "); two {
				cells[i] = map[string]string{"cycle": cycle, "model": model}[tg.level]
			}
		}
		if cells[0] == "group" {
			header = cells
			continue
		}
		if len(cells) != len(header) || strings.HasPrefix(cells[0], "-") {
			continue
		}
		v := number(t, header, cells, tg.column)
		if number(t, header, cells, "spread") > tg.spread && (tg.atLeast && v < tg.limit || !tg.atLeast && v > tg.limit) {
			out = append(out, cells[0]+" "+cells[indexOf(header, tg.column)])
		}
	}
	if header == nil {
		t.Fatalf("docs/fidelity/%s.md has no table of groups", tg.set)
	}
	return out
}

func number(t *testing.T, header, cells []string, column string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(cells[indexOf(header, column)], 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", column, cells[0], err)
	}
	return v
}

func indexOf(header []string, column string) int {
	for i, h := range header {
		if h == column {
			return i
		}
	}
	return 0
}

// between is what stands in a text between two marks, "" without the first.
func between(text, from, to string) string {
	_, rest, found := strings.Cut(text, from)
	if !found {
		return ""
	}
	inside, _, _ := strings.Cut(rest, to)
	return inside
}
