package faults

import (
	"bytes"
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/tunertest"
)

// bug is a bug that somebody might make, and the test that finds it. It is put
// in place by an overlay when the test is built; no file is changed.
type bug struct {
	what     string
	file     string // below tuner
	old, new string // in the file old occurs once
	pkg, run string // the test
	by       symptom
}

// symptom is how a bug shows.
type symptom int

const (
	fails     symptom = iota // the test says what is wrong
	failsLong                // its long form does
	hangs                    // nothing goes on
)

// caught runs the test with the bug in it.
func (b *bug) caught(t *testing.T) {
	path, mutated := b.mutate(t)
	dir := t.TempDir()
	replacement := filepath.Join(dir, "mutated.go")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: replacement}})
	if err == nil {
		err = os.WriteFile(replacement, mutated, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	timeout := "-timeout=10m"
	if b.by == hangs {
		timeout = "-timeout=45s"
	}
	// The test's words are all that is wanted: it is neither vetted nor to be debugged.
	cmd := exec.Command("go", "test", "-count=1", "-vet=off", "-ldflags=-s -w", "-failfast", timeout, "-overlay="+filepath.Join(dir, "overlay.json"), "-run=^("+b.run+")$", "./"+b.pkg)
	cmd.Dir = ".."
	if b.by != failsLong {
		cmd.Env = slices.DeleteFunc(os.Environ(), tunertest.IsLong)
	}
	out, err := cmd.CombinedOutput()
	text := string(out)
	switch {
	case strings.Contains(text, "[build failed]") || strings.Contains(text, "[setup failed]"):
		t.Errorf("%s: it does not build:\n%s", b.what, text)
	case strings.Contains(text, "panic: test timed out") != (b.by == hangs):
		t.Errorf("%s: want that it hangs: %v\n%s", b.what, b.by == hangs, text)
	case err == nil:
		t.Errorf("%s: %s of %s does not notice:\n%s", b.what, b.run, b.pkg, text)
	case !strings.Contains(text, "--- FAIL") && !strings.Contains(text, "panic:") && !strings.Contains(text, "fatal error:"):
		t.Errorf("%s: %v:\n%s", b.what, err, text)
	default:
		t.Logf("%s: %s", b.what, complaint(text))
	}
}

// complaint returns the first line that says what a test found.
func complaint(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "_test.go:") && !strings.Contains(line, "WARPTUNE_SEED") || strings.HasPrefix(line, "panic:") {
			return line[:min(len(line), 200)]
		}
	}
	return "it fails"
}

// mutate returns the file's path and what is in it with the bug.
func (b *bug) mutate(t *testing.T) (path string, mutated []byte) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", b.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte(b.old)); n != 1 {
		t.Fatalf("%s: %q occurs %d times in %s, want once: seed the bug in what is there now", b.what, b.old, n, b.file)
	}
	mutated = bytes.Replace(text, []byte(b.old), []byte(b.new), 1)
	if _, err := parser.ParseFile(token.NewFileSet(), path, mutated, 0); err != nil {
		t.Fatalf("%s: %v", b.what, err)
	}
	return path, mutated
}

// Each seeded bug is found by its test. In go test it is only checked that the
// bugs can be put in place.
func TestSeededBugs(t *testing.T) {
	for _, b := range bugs {
		t.Run(strings.ReplaceAll(b.what, " ", "_"), func(t *testing.T) {
			b.mutate(t)
			if tunertest.Times(0, 1) == 1 {
				b.caught(t)
			}
		})
	}
}
