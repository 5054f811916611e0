package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
)

// A set and its archive come out of the history of the repository, once; what is not there, and what is another file, is an error.
func TestFetch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: ", err)
	}
	t.Chdir(t.TempDir())
	run := func(args ...string) string {
		out, err := git(append([]string{"-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	put(t, "old/p.zip", "archive")
	put(t, "sets/a/t", "times")
	put(t, "sets/a/kernels/k.cu", "source")
	run("init", "--quiet")
	run("add", "-A")
	run("commit", "--quiet", "-m", "with it")
	commit := run("rev-parse", "HEAD")
	whole, err := datasets.Sum("sets/a")
	if err != nil {
		t.Fatal(err)
	}
	run("rm", "--quiet", "-r", "old", "sets/a")
	run("commit", "--quiet", "-m", "without it")
	manifest := func(commit, content string) {
		put(t, "sets/manifest.json", fmt.Sprintf(`{"sets": [{"name": "a", "holds": "x", "gpu": "g", "arch": "h200", "compiler": "c", "author": "project", "role": "seen",
			"files": {"timings": "t", "ptx": "p.zip"}, "fetch": [{"commit": %q, "path": "sets/a", "sha256": %q},
			{"file": "p.zip", "commit": %[1]q, "path": "old/p.zip", "sha256": "%[3]x"}], "configurations": 1, "kernels": 1, "groups": 1}]}`,
			commit, whole, sha256.Sum256([]byte(content))))
	}
	manifest(commit, "another")
	if err := fetchAll("sets", nil); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("another file: %v", err)
	}
	manifest(strings.Repeat("0", 40), "archive")
	if err := fetchAll("sets", nil); err == nil || !strings.Contains(err.Error(), "git fetch") {
		t.Errorf("no such commit: %v", err)
	}
	for _, pattern := range []string{"sets/a/p*", "sets/.part*"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if err := os.RemoveAll("sets/a"); err != nil {
		t.Fatal(err)
	}
	manifest(commit, "archive")
	if err := fetchAll("sets", []string{"b"}); err == nil {
		t.Error("a set that is none was fetched")
	}
	for range 2 {
		if err := fetchAll("sets", []string{"a"}); err != nil {
			t.Error(err)
		}
	}
	for file, want := range map[string]string{"p.zip": "archive", "t": "times", "kernels/k.cu": "source"} {
		if content, err := os.ReadFile("sets/a/" + file); err != nil || string(content) != want {
			t.Errorf("%s: %q, %v", file, content, err)
		}
	}
	t.Chdir("sets")
	if err := os.RemoveAll("a"); err != nil {
		t.Fatal(err)
	}
	if err := fetchAll(".", nil); err != nil {
		t.Errorf("below the top: %v", err)
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
