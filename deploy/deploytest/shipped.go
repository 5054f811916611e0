package deploytest

import (
	"os"
	"testing"
)

// shipped are the patterns of the files that show command lines.
var shipped = []string{
	"deploy/*/*.service", "deploy/*/*.sbatch", "deploy/testdata/*.sbatch", "deploy/kubernetes/*/*.yaml", "docs/OPERATIONS.md",
}

// Shipped hands each command line of a program that deploy and docs ship to
// parse, whose error fails the test, as do fewer lines than least: then they
// are not found any more. root is the repository's folder.
func Shipped(t *testing.T, root, program string, least int, parse func(args []string) error) {
	t.Helper()
	lines, err := CommandLines(os.DirFS(root), shipped...)
	if err != nil {
		t.Fatal(err)
	}
	found, files := 0, map[string]bool{}
	for _, l := range lines {
		if l.Program != program {
			continue
		}
		found++
		files[l.File] = true
		if err := parse(l.Args); err != nil {
			t.Errorf("%s: %s %q: %v", l.File, program, l.Args, err)
		}
	}
	if found < least {
		t.Errorf("%d command lines of %s found, in %v: want %d or more", found, program, files, least)
	}
	t.Logf("%d command lines of %s in %d files", found, program, len(files))
}
