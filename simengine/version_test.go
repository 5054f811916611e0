package simengine

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// dependencies are the Go files, relative to this package, that the Go tool
// compiles into it from this module.
func dependencies(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-json=ImportPath,GoFiles,IgnoredGoFiles,Module", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	const self = "github.com/warptune/warptune/simengine"
	var files []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p struct {
			ImportPath              string
			GoFiles, IgnoredGoFiles []string
			Module                  *struct{ Main bool }
		}
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.Module == nil {
			continue // the standard library
		}
		rest, ok := strings.CutPrefix(p.ImportPath+"/", self+"/")
		if !ok || !p.Module.Main {
			t.Errorf("predictions depend on %s, which the version does not cover", p.ImportPath)
			continue
		}
		if len(p.IgnoredGoFiles) > 0 {
			t.Errorf("%s: %v are compiled on some machines only: predictions must be the same on all", p.ImportPath, p.IgnoredGoFiles)
		}
		for _, f := range p.GoFiles {
			files = append(files, path.Join(rest, f))
		}
	}
	slices.Sort(files)
	return files
}

// The version is made of the code that predictions depend on, all of it and no other.
func TestVersionCoversDependencies(t *testing.T) {
	var covered []string
	err := fs.WalkDir(source, ".", func(p string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasSuffix(p, "_test.go") {
			covered = append(covered, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(covered)
	want := dependencies(t)
	if len(want) < 100 {
		t.Fatalf("the Go tool lists %d files only: %v", len(want), want)
	}
	for _, f := range want {
		if _, ok := slices.BinarySearch(covered, f); !ok {
			t.Errorf("predictions depend on %s, which the version leaves out: add its folder to the go:embed lines of version.go", f)
		}
	}
	for _, f := range covered {
		if _, ok := slices.BinarySearch(want, f); !ok {
			t.Errorf("the version covers %s, on which no prediction depends", f)
		}
	}
}

// Comments and layout leave the version as it is; what can change a program does not.
func TestCodeOfVersion(t *testing.T) {
	const base = "package p\n\nvar a = 1 // one\n"
	same := []string{
		"// Package p.\npackage p\nvar a = 1",
		"package p\n\n/* b */ var a   =\t1 /* c\n */\n",
		"package p; var a = 1\r\n",
	}
	other := []string{
		"package p\n\nvar a = 2 // one\n",
		"package p\n\nvar a = 1 + 0\n",
		"package p\n\nvar b = 1 // one\n",
		"package p\n\n//go:noinline\nvar a = 1\n",
		"package p\n\nvar a = \"1 // one\"\n",
	}
	for _, s := range same {
		if string(code([]byte(s))) != string(code([]byte(base))) {
			t.Errorf("%q gives another version than %q", s, base)
		}
	}
	seen := map[string]string{}
	for _, s := range append(other, base) {
		c := string(code([]byte(s)))
		if before, ok := seen[c]; ok {
			t.Errorf("%q and %q give the same version", s, before)
		}
		seen[c] = s
	}
	if a, b := string(code([]byte("var a = `x\ny`"))), string(code([]byte("var a = `x y`"))); a == b {
		t.Error("a line break in a raw string leaves the version as it is")
	}
}

// What a command pays once to know the version.
func BenchmarkVersion(b *testing.B) {
	for b.Loop() {
		version()
	}
}
