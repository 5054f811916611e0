package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/cmd/internal/measure/standin"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// TestMain keeps the user's database and compile cache out of the tests.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "warptune")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	os.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	code := m.Run()
	standin.Clean()
	os.RemoveAll(dir)
	os.Exit(code)
}

// result is what one command line came to.
type result struct {
	args           []string
	code           int
	stdout, stderr string
}

// warptune runs a command line in this process.
func warptune(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, &stdout, &stderr)
	return result{args, code, stdout.String(), stderr.String()}
}

// ok fails the test unless the command did what it was asked.
func (r result) ok(t *testing.T) result {
	t.Helper()
	if r.code != exitDone {
		t.Fatalf("warptune %s: exit status %d: %s", strings.Join(r.args, " "), r.code, r.stderr)
	}
	return r
}

// noise is what an error's text must not have: stack traces, and other libraries'
// words around the cause.
var noise = regexp.MustCompile(`goroutine|panic|\.go:\d|rpc error|desc =|strconv\.|%!|<nil>|\n.*\n`)

// refused fails the test unless the command ended with the status and one line on
// stderr that has every part.
func (r result) refused(t *testing.T, code int, parts ...string) {
	t.Helper()
	line := strings.Join(r.args, " ")
	if r.code != code {
		t.Errorf("warptune %s: exit status %d, want %d", line, r.code, code)
	}
	text, single := strings.CutSuffix(r.stderr, "\n")
	if !single || strings.Contains(text, "\n") || !strings.HasPrefix(text, "warptune: ") || noise.MatchString(text) {
		t.Errorf("warptune %s: want one plain line on stderr, got:\n%s", line, r.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("warptune %s: the error does not say %q:\n%s", line, part, text)
		}
	}
}

// given writes a definition named NAME.json into a directory of its own, with the
// built-in kernel's prebuilt PTX in place of its source, and change applied, and
// returns the definition's path. No compiler is needed for it.
func given(t *testing.T, name string, change func(definition map[string]any)) string {
	t.Helper()
	builtIn, err := catalogue.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	def, err := builtIn.Definition()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	template := name
	for _, p := range def.Default().Names {
		template += "_{" + p + "}"
	}
	writePTX(t, def, dir, template+".ptx")
	var document map[string]any
	if err := json.Unmarshal(builtIn.Text(), &document); err != nil {
		t.Fatal(err)
	}
	spec := document["KernelSpecification"].(map[string]any)
	spec["Language"], spec["KernelFile"] = "PTX", template+".ptx"
	if change != nil {
		change(document)
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(dir, name+".json"), text)
}

// writePTX writes the PTX of every configuration.
func writePTX(t *testing.T, def *kernel.Definition, dir, template string) {
	t.Helper()
	space, err := def.Space(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range space.All() {
		launch, err := def.Launch(cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ptx, err := compile.Prebuilt{}.Compile(t.Context(), compile.Request{Compile: launch.Compile})
		if err != nil {
			t.Fatal(err)
		}
		file := template
		for i, name := range cfg.Names {
			file = strings.ReplaceAll(file, "{"+name+"}", cfg.Values[i].Text())
		}
		write(t, filepath.Join(dir, file), ptx.PTX)
	}
}

func write(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
