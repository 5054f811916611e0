package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// The tables of README and docs/FIDELITY.md are what the pages of docs/fidelity come to.
func TestSummariesSayWhatThePagesSay(t *testing.T) {
	g := generator{root: "../.."}
	var err error
	if g.sets, err = datasets.Load("../../deploy/calibrate/datasets"); err != nil {
		t.Fatal(err)
	}
	if err := g.checkSummaries(); err != nil {
		t.Error(err)
	}
	for i := range g.sets.Sets {
		s := &g.sets.Sets[i]
		if s.Latest != nil {
			continue
		}
		text, err := os.ReadFile(g.page(s))
		if err != nil || !strings.HasPrefix(string(text), heading(s)) {
			t.Errorf("the page of %s does not begin with what the manifest says of it (%v): go run ./docs/gen", s.Name, err)
		}
	}
}

const tables = "\n## Level cycle\n\nh200, level cycle, simulator 1-ab: 4 configurations in 1 groups\n\nregret@1: geometric mean 1.100, worst group 1.100; x\nMAPE: 20.0 % over all\n\n" +
	"## Level model\n\nh200, level model, simulator 1-ab: 4 configurations in 1 groups\n\nregret@1: geometric mean 1.200, worst group 1.200; x\nMAPE: 30.0 % over all\n"

// checkout makes one with a manifest, two data sets and their pages.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	set := func(name, author string, n string) string {
		return `{"name": "` + name + `", "holds": "x", "gpu": "g", "arch": "h200", "compiler": "c", "author": "` + author + `", "role": "seen",
			"files": {"timings": "t"}, "configurations": ` + n + `, "kernels": 1, "groups": 1, "blind": [{"cycle": {"regret1": 1.5, "worst": 1.5, "mape": 40}}]}`
	}
	for name, text := range map[string]string{
		"deploy/calibrate/datasets/manifest.json": `{"sets": [` + set("a", "project", "4") + `, ` + set("b", "project", "1200") + `]}`,
		"docs/FIDELITY.md":                        "before\n<!-- begin summary -->\n<!-- end summary -->\nafter\n",
		"README.md":                               "<!-- begin trust -->\nold\n<!-- end trust -->\n",
		"docs/fidelity/a.md":                      "# a\n" + tables,
		"docs/fidelity/b.md":                      "# b\n" + strings.ReplaceAll(tables, "1.100", "1.000"),
	} {
		put(t, filepath.Join(root, name), text)
	}
	return root
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Summaries are written from pages and then stand the check; a page of another version, another figure and a
// missing page do not.
func TestSummariesAndCheck(t *testing.T) {
	root := checkout(t)
	run := func(check bool) error { return (&generator{root: root}).run(nil, check) }
	if err := run(true); err == nil || !strings.Contains(err.Error(), "FIDELITY.md") {
		t.Errorf("empty tables: %v", err)
	}
	if err := run(false); err != nil {
		t.Fatal(err)
	}
	if err := run(true); err != nil {
		t.Error(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if page := read("docs/FIDELITY.md"); !strings.Contains(page, "| [b](fidelity/b.md) | 1,200 | 1 | 1.500 (1.50) | 1.000 (1.00) / 1.200 (1.20) | 40 % | 20 % / 30 % |") ||
		!strings.HasPrefix(page, "before\n") || !strings.HasSuffix(page, "after\n") {
		t.Error(page)
	}
	// The geometric mean of 1.1 and 1.0 is 1.0488.
	if page := read("README.md"); !strings.Contains(page, "| 2 | 1,204 | 50.0 % (50 %) | 40 % | 4.9 % (10 %) | 20 % |") || strings.Contains(page, "old") {
		t.Error(page)
	}
	page := read("docs/fidelity/a.md")
	for from, want := range map[string]string{"simulator 1-ab: 4 configurations in 1 groups": "2 versions", "geometric mean 1.200": "README.md|FIDELITY.md", "simulator 1-ab": "level cycle"} {
		to := regexp.MustCompile(`1-ab|1\.200`).ReplaceAllString(from, "1.300")
		if strings.HasPrefix(want, "2") {
			to = strings.Replace(from, "1-ab", "1-cd", 1)
		}
		put(t, filepath.Join(root, "docs/fidelity/a.md"), strings.Replace(page, from, to, 1))
		if err := run(true); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s for %s: %v", to, from, err)
		}
	}
	os.Remove(filepath.Join(root, "docs/fidelity/a.md"))
	if err := run(true); !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "no such file")) {
		t.Errorf("no page: %v", err)
	}
}

// A table loses its padding and nothing else; other lines stay as they are.
func TestNarrow(t *testing.T) {
	text := "a  b | c\n\n| group   |  MAPE |\n|---------|------:|\n| a [1 2] | 3.1 % |\n| - x     |    -1 |\n| smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio | 2 |\n"
	if got, want := string(narrow([]byte(text))), "a  b | c\n\n| group | MAPE |\n|---|---:|\n| a [1 2] | 3.1 % |\n| - x | -1 |\n| stalls: long_scoreboard | 2 |\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Of two tables of the same groups one is made, with both figures where they differ; of others none.
func TestBeside(t *testing.T) {
	of := func(rows string) []byte {
		return []byte("h200: 1 group\n\n| group | MAPE | @3 |\n|---|---:|---:|\n" + rows + "\nregret@1: 1.000\n\n| counter | n |\n|---|---:|\n| a | 1 |\n")
	}
	const rest = "h200: 1 group\n\nregret@1: 1.000\n\n| counter | n |\n|---|---:|\n| a | 1 |\n"
	a, b, table := beside(of("| x [1 2] | 3.1 % | 1.000 |\n"), of("| x [1 2] | 13.5 % | 1.000 |\n"))
	if want := "| group | MAPE | @3 |\n| --- | ---: | ---: |\n| x [1 2] | 3.1 / 13.5 % | 1.000 |\n"; string(table) != want || string(a) != rest || string(b) != rest {
		t.Errorf("got\n%s\nbeside\n%s\nand\n%s", table, a, b)
	}
	for _, other := range []string{"| y | 3.1 % | 1.000 |\n", "| x [1 2] | 3.1 % | 1.000 |\n| y | 3.1 % | 1.000 |\n", ""} {
		if a, b, table := beside(of("| x [1 2] | 3.1 % | 1.000 |\n"), of(other)); table != nil || len(a) < len(rest)+20 || !bytes.Equal(b, of(other)) {
			t.Errorf("%q: a table is made of other groups", other)
		}
	}
}
