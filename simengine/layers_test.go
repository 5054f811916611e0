package simengine

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers lists, for each package of the simulator, the packages of it that its code may import. A
// tree, which ends in "/...", may import itself too; assemble has a test of its own for that.
var layers = map[string][]string{
	"arch":               {},
	"arch/calibrate":     {"arch"},
	"disjoint":           {},
	"ptx":                {},
	"ir":                 {"ir/demangle", "ptx"},
	"ir/demangle":        {},
	"ir/flop":            {"ir"},
	"ir/irtest":          {"ir"},
	"ir/lower":           {"ir", "ptx"},
	"ir/alias":           {"ir"},
	"ir/bounds":          {"ir"},
	"ir/origin":          {"ir"},
	"ir/slice":           {"ir", "ir/alias", "ir/bounds"},
	"ir/sroa":            {"ir", "ptx"},
	"ir/unroll":          {"ir", "ptx"},
	"exec/element":       {"ir"},
	"exec/alu":           {"arch", "exec/element", "ir"},
	"exec/mma":           {"arch", "exec/alu", "exec/element", "ir"},
	"exec/fault":         {"exec/element", "ir", "ptx"},
	"exec/memory":        {"exec/element", "exec/texture", "ir"},
	"exec/loopsample":    {"ir"},
	"exec/mbarrier":      {},
	"exec/racecheck":     {"arch"},
	"exec/tensormap":     {"ir", "trace"},
	"exec/texture":       {"exec/element", "ir", "trace"},
	"exec/internal/code": {"arch", "exec/alu", "exec/fault", "exec/loopsample", "exec/memory", "exec/mma", "exec/tensormap", "ir", "ir/alias", "ir/slice", "ir/sroa"},
	"exec": {"arch", "exec/alu", "exec/element", "exec/fault", "exec/internal/code", "exec/loopsample", "exec/mbarrier", "exec/memory", "exec/mma",
		"exec/racecheck", "exec/tensormap", "exec/texture", "ir", "trace"},
	"trace":            {"arch", "ir"},
	"ideal":            {"arch", "assemble/...", "disjoint", "ir", "timing/...", "trace"},
	"verify":           {"exec", "exec/element", "exec/memory", "ir", "trace"},
	"sampling":         {"ir", "timing/coalesce", "timing/makespan", "trace"},
	"assemble/asmtest": {"arch", "assemble/...", "ir", "ir/lower", "ir/sroa", "ir/unroll", "ptx"},
	"assemble/...":     {"arch", "disjoint", "ir", "ir/sroa", "ir/unroll", "ptx"},
	"timing/...":       {"arch", "assemble", "disjoint", "ir", "ir/flop", "trace"},
	"ptxtest":          {"ir", "ir/irtest", "ir/lower", "ptx"},
	".": {"arch", "assemble", "assemble/rules", "exec", "exec/element", "exec/fault", "exec/memory", "exec/mma", "exec/racecheck", "exec/tensormap", "exec/texture",
		"ideal", "ir", "ir/flop", "ir/lower", "ir/origin", "ir/sroa", "ir/unroll", "ptx", "sampling", "timing/...", "trace", "verify"},
}

// layerOf is the entry of layers that a package falls under.
func layerOf(pkg string) string {
	if _, ok := layers[pkg]; ok {
		return pkg
	}
	tree, _, _ := strings.Cut(pkg, "/")
	return tree + "/..."
}

// Dependencies between the packages of the simulator go one way.
func TestLayers(t *testing.T) {
	const tree = "github.com/warptune/warptune/simengine"
	seen := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		layer := layerOf(path.Dir(filepath.ToSlash(file)))
		allowed, ok := layers[layer]
		if !ok {
			t.Errorf("%s: layers does not list this folder", file)
		}
		seen[layer] = true
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			dep, ours := strings.CutPrefix(name, tree)
			if dep = strings.TrimPrefix(dep, "/"); !ours || layerOf(dep) == layer || slices.Contains(allowed, dep) || slices.Contains(allowed, layerOf(dep)) {
				continue
			}
			t.Errorf("%s imports %s: %s may import only %v", file, name, layer, allowed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for layer := range layers {
		if !seen[layer] {
			t.Errorf("layers lists %s, which has no code", layer)
		}
	}
}
