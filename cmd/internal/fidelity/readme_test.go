package fidelity

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What README says that predictions come to now is what the tables of docs/FIDELITY.md, which are
// written anew with each version of the simulator, say.
func TestReadmeSaysWhatTheTablesSay(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var rows [][]string
	for line := range strings.Lines(read("README.md")) {
		if cells := strings.Split(strings.Trim(line, "|\n"), "|"); len(cells) == 6 && strings.Contains(cells[0], " kernels") {
			rows = append(rows, cells)
		}
	}
	batches := strings.Fields("h200 validation-h200 further third fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth")
	if len(rows) < len(batches) {
		t.Fatalf("README has %d rows, docs %d batches", len(rows), len(batches))
	}
	summary := regexp.MustCompile(`(?s)regret@1: geometric mean ([0-9.]+), worst group ([0-9.]+);.*?MAPE: ([0-9.]+) %`)
	for i, batch := range batches {
		_, table, _ := strings.Cut(read("docs/FIDELITY.md"), "<!-- begin "+batch+"-cycle -->")
		m := summary.FindStringSubmatch(table)
		if m == nil {
			t.Fatalf("no table of %s", batch)
		}
		var v [3]float64
		for k := range v {
			v[k], _ = strconv.ParseFloat(m[k+1], 64)
		}
		want := fmt.Sprintf("%.1f %% (%.0f %%) | %.0f %%", 100*(v[0]-1), 100*(v[1]-1), v[2])
		if got := strings.TrimSpace(rows[i][4]) + " | " + strings.TrimSpace(rows[i][5]); got != want {
			t.Errorf("%s: README says %s, the table of %s %s", strings.TrimSpace(rows[i][0]), got, batch, want)
		}
	}
}
