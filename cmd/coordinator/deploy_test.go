package main

import (
	"io"
	"os"
	"testing"

	"github.com/warptune/warptune/deploy/deploytest"
)

// What deploy and docs ship starts this program with flags that it has.
func TestShippedCommandLinesParse(t *testing.T) {
	lines, err := deploytest.CommandLines(os.DirFS("../.."), "deploy/*/*.service", "deploy/*/*.sbatch", "deploy/testdata/*.sbatch", "deploy/kubernetes/*/*.yaml", "docs/OPERATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]bool{}
	for _, l := range lines {
		if l.Program != "coordinator" {
			continue
		}
		files[l.File] = true
		if _, err := parse(l.Args, io.Discard); err != nil {
			t.Errorf("%s: coordinator %q: %v", l.File, l.Args, err)
		}
	}
	if len(files) < 4 {
		t.Errorf("found only in %v", files)
	}
	if _, err := parse([]string{"--no-such-flag"}, io.Discard); err == nil {
		t.Error("a flag that does not exist is taken")
	}
}
