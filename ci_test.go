package warptune_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Fuzzing of what changed sees what is embedded and what tests read, in the package that
// is nearest above it, and takes everything when go.mod changed.
func TestFuzzedIsWhatChanged(t *testing.T) {
	script, err := os.ReadFile(".ci/fuzz")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil { //nolint:gosec // one is a script
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "FUZZ_BASE=HEAD^", "FUZZ_SECONDS=0", "GOWORK=off", "GOFLAGS=",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	commit := func() {
		t.Helper()
		run("git", "add", "-A")
		run("git", "commit", "-q", "-m", "changed")
	}
	const fuzz = "package p\n\nimport \"testing\"\n\nfunc FuzzIt(f *testing.F) {}\n"
	write(".ci/fuzz", string(script))
	write("go.mod", "module example.com/m\n\ngo 1.21\n")
	write("a/a.go", "package p\n\nimport _ \"embed\"\n\n//go:embed data/deep/x.json\nvar Text string\n")
	write("a/data/deep/x.json", "1")
	write("a/a_test.go", fuzz)
	write("b/b.go", "package p\n\nimport _ \"example.com/m/a\"\n")
	write("b/b_test.go", fuzz)
	write("c/c_test.go", fuzz)
	write("c/testdata/src/x.go", "package x\n")
	write("docs/text.md", "1")
	run("git", "init", "-q")
	commit()
	for _, c := range []struct{ name, text, want string }{
		{"a/data/deep/x.json", "2", "./a ./b"},
		{"b/b.go", "package p\n\nimport _ \"example.com/m/a\"\n\n// It is another.\n", "./b"},
		{"c/testdata/src/x.go", "package y\n", "./c"},
		{"docs/text.md", "2", ""},
		{"go.mod", "module example.com/m\n\ngo 1.22\n", "./a ./b ./c"},
	} {
		write(c.name, c.text)
		commit()
		var got []string
		out := run("bash", ".ci/fuzz")
		for line := range strings.Lines(out) {
			if pkg, ok := strings.CutSuffix(line, " FuzzIt\n"); ok {
				got = append(got, pkg)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("after a change of %s: %v are fuzzed, want %q\n%s", c.name, got, c.want, out)
		}
	}
}
