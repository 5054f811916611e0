package timing

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// directions lists, for each folder, the folders of this tree that its code may import.
// The two levels, clock and analytic, are siblings.
var directions = map[string][]string{
	"cache":     {},
	"dram":      {},
	"makespan":  {},
	"coalesce":  {},
	"pending":   {},
	".":         {"cache", "dram", "makespan"},
	"cost":      {".", "cache", "coalesce", "dram"},
	"footprint": {".", "cache", "coalesce", "cost"},
	"clock":     {".", "cache", "coalesce", "cost", "dram", "footprint", "pending"},
	"analytic":  {".", "cache", "coalesce", "cost", "dram", "footprint", "makespan", "pending"},
}

// mostFiles is how many files of code a folder may have.
const mostFiles = 25

// Each folder imports only those below it, and none is too full to be looked over.
func TestDirections(t *testing.T) {
	const tree = "github.com/warptune/warptune/simengine/timing"
	files := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		files[dir]++
		allowed, ok := directions[dir]
		if !ok {
			t.Errorf("%s: no direction is declared for this folder", path)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			dep, ours := strings.CutPrefix(name, tree)
			if dep = strings.TrimPrefix(dep, "/"); dep == "" {
				dep = "."
			}
			if ours && !slices.Contains(allowed, dep) {
				t.Errorf("%s imports %s: %s may import only %v", path, name, dir, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range directions {
		if n := files[dir]; n == 0 || n > mostFiles {
			t.Errorf("%s: %d files of code, want 1 to %d", dir, n, mostFiles)
		}
	}
}
