// Package warptune_test holds the project's layering: which package may import
// which, and what pure packages may not touch. It is a statement of policy: a
// build that breaks it is mended in the build, not here.
package warptune_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/warptune/warptune/"

// layers lists, for each package tree, the trees of ours it may import besides
// itself. The longest matching prefix applies; an unknown package fails.
var layers = map[string][]string{
	"search":            {},
	"simengine":         {},
	"tuner":             {"search"},
	"tuner/rpc":         {"search", "tuner", "api"},
	"tuner/worker":      {"search", "tuner", "api"},
	"tuner/standby":     {"search", "tuner", "api"},
	"api":               {},
	"cmd":               {"search", "simengine", "tuner", "api", "deploy"},
	"deploy":            {"tuner", "search", "api"},
	"deploy/calibrate":  {"search", "tuner"},
	"docs/gen":          {"deploy"},
	"tuner/coordinator": {"search", "tuner"},

	// What the commands of warptune share knows of no command.
	"cmd/warptune/internal/cli":     {"tuner"},
	"cmd/warptune/internal/message": {"cmd/warptune/internal/cli", "search", "simengine", "tuner", "api"},
	"cmd/warptune/internal/connect": {"cmd/warptune/internal/cli", "cmd/internal", "tuner", "api"},
	"cmd/warptune/internal/input":   {"cmd/warptune/internal/cli", "cmd/warptune/internal/message", "cmd/internal", "search", "simengine", "tuner"},
	"cmd/warptune/internal/plan":    {"cmd/warptune/internal/cli", "cmd/warptune/internal/input", "cmd/internal", "search", "simengine", "tuner", "api"},
}

// pure packages start no goroutine and touch no clock, file, network, logger
// or global random state. A package that ends in "/gen" is a generator command.
var pure = []string{"search", "simengine", "tuner", "tuner/kernel/compile/asnvcc", "tuner/kernel/compile/asnvcc/stages", "tuner/kernel/compile/dialect", "tuner/kernel/compile/prune", "tuner/lease"}

// pureTrees are the trees in which every package is pure.
var pureTrees = map[string]bool{"search": true, "simengine": true}

var impureImports = map[string]string{
	"net":                           "pure packages do no networking",
	"net/http":                      "pure packages do no networking",
	"os":                            "pure packages touch no files",
	"os/exec":                       "pure packages start no processes",
	"log":                           "pure packages return values, they do not log",
	"math/rand":                     "use math/rand/v2 with an explicit source",
	"google.golang.org/grpc":        "pure packages do no RPC",
	"go.etcd.io/bbolt":              "pure packages do no storage",
	"github.com/hashicorp/go-hclog": "pure packages return values, they do not log",
}

var impureCalls = map[string]bool{
	"time.Now": true, "time.Since": true, "time.Until": true, "time.After": true, "time.AfterFunc": true,
	"time.Tick": true, "time.NewTimer": true, "time.NewTicker": true, "time.Sleep": true,
	"rand.Int": true, "rand.IntN": true, "rand.Uint64": true, "rand.Float64": true, "rand.Perm": true,
	"rand.Shuffle": true, "rand.N": true,
}

type pkg struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,GoFiles,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// layer returns the longest key of layers that is path or a parent of it.
func layer(path string) (string, bool) {
	for p := path; p != "." && p != ""; p = filepath.Dir(p) {
		if _, ok := layers[p]; ok {
			return p, true
		}
	}
	return "", false
}

func within(path string, trees []string) bool {
	for _, tree := range trees {
		if path == tree || strings.HasPrefix(path, tree+"/") {
			return true
		}
	}
	return false
}

func TestLayering(t *testing.T) {
	for _, p := range packages(t) {
		self := strings.TrimPrefix(p.ImportPath, module)
		if self+"/" == module {
			continue
		}
		own, ok := layer(self)
		if !ok {
			t.Errorf("%s: no layer is declared for this package in arch_test.go", self)
			continue
		}
		for _, imp := range p.Imports {
			dep, ours := strings.CutPrefix(imp, module)
			if !ours || within(dep, []string{own}) || within(dep, layers[own]) {
				continue
			}
			t.Errorf("%s imports %s: %s may import only %v", self, dep, own, layers[own])
		}
	}
}

func isPure(path string) bool {
	if strings.HasSuffix(path, "/gen") {
		return false
	}
	root, _, _ := strings.Cut(path, "/")
	if pureTrees[root] {
		return true
	}
	for _, p := range pure {
		if p == path {
			return true
		}
	}
	return false
}

func TestPurity(t *testing.T) {
	for _, p := range packages(t) {
		self := strings.TrimPrefix(p.ImportPath, module)
		if !isPure(self) {
			continue
		}
		for _, imp := range p.Imports {
			if why, bad := impureImports[imp]; bad {
				t.Errorf("%s imports %s: %s", self, imp, why)
			}
		}
		for _, name := range p.GoFiles {
			checkPureFile(t, filepath.Join(p.Dir, name))
		}
	}
}

func checkPureFile(t *testing.T, path string) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a pure package starts no goroutine", fset.Position(n.Pos()))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Obj == nil && impureCalls[x.Name+"."+n.Sel.Name] {
				t.Errorf("%s: %s.%s: take now from the caller, and randomness from a seeded source", fset.Position(n.Pos()), x.Name, n.Sel.Name)
			}
		}
		return true
	})
}
