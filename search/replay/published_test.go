package replay

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPublished: in the table that docs/search/strategies.md publishes, the recommended
// strategy is at or under the best other one's mean from 50 evaluations on in
// nearly every place, and nowhere behind by more than a percent. A change that
// makes it worse shows when the tables are written anew.
func TestPublished(t *testing.T) {
	const places, behindAtMost, lost = 41, 3, 0.01
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "search", "strategies.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "### portfolio against the best other strategy")
	table, _, end := strings.Cut(table, "\n### ")
	if !ok || !end {
		t.Fatal("no table of the strategy against the others")
	}
	cell := regexp.MustCompile(`^(\*\*)?([0-9.]+) ± [0-9.]+(?:\*\*)? \([a-z-]+ ([0-9.]+)`)
	seen, behind := 0, 0
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, " | ")
		if len(cells) != 1+len(Marks) {
			continue
		}
		for k, n := range Marks {
			m := cell.FindStringSubmatch(cells[1+k])
			if n < 50 || m == nil {
				continue
			}
			own, _ := strconv.ParseFloat(m[2], 64)
			other, _ := strconv.ParseFloat(m[3], 64)
			if seen++; m[1] == "" {
				behind++
			}
			if own > other+lost {
				t.Errorf("%s after %d: %v, another has %v", strings.TrimPrefix(cells[0], "| "), n, own, other)
			}
		}
	}
	if seen < places || behind > behindAtMost {
		t.Errorf("behind in %d of %d places, want at most %d of %d", behind, seen, behindAtMost, places)
	}
}
