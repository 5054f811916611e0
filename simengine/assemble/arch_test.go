package assemble

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

// stages lists, for each folder, the folders of this tree that its code may import.
var stages = map[string][]string{
	"rules":          {},
	"vreg":           {},
	"target":         {"rules"},
	"hir":            {"target", "vreg"},
	"hir/opt":        {"hir", "rules", "vreg"},
	"mir":            {"target", "vreg"},
	"mir/peephole":   {"mir", "rules", "target", "vreg"},
	"isel/expansion": {"mir"},
	"isel":           {"isel/expansion", "hir", "mir", "rules", "target", "vreg"},
	"converge":       {"hir", "mir"},
	"sched":          {"mir", "rules", "target", "vreg"},
	"regalloc":       {"mir", "rules", "target", "vreg"},
	".":              {"converge", "hir", "hir/opt", "isel", "isel/expansion", "mir", "mir/peephole", "regalloc", "rules", "sched", "target", "vreg"},
	"asmtest":        {"hir", "hir/opt", "isel", "mir", "target", "vreg"},
}

// mostFiles is how many files of code a folder may have.
const mostFiles = 25

// Each stage imports only stages before it, and no folder is too full to be looked over.
func TestStages(t *testing.T) {
	const tree = "github.com/warptune/warptune/simengine/assemble"
	files := map[string]int{}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		files[dir]++
		allowed, ok := stages[dir]
		if !ok {
			t.Errorf("%s: no stage is declared for this folder", path)
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
			if dep, ours := strings.CutPrefix(name, tree); ours && !slices.Contains(allowed, strings.TrimPrefix(dep, "/")) {
				t.Errorf("%s imports %s: %s may import only %v", path, name, dir, allowed)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range stages {
		if n := files[dir]; n == 0 || n > mostFiles {
			t.Errorf("%s: %d files of code, want 1 to %d", dir, n, mostFiles)
		}
	}
}
