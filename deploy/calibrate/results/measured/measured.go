// Package measured reads, for tests, the results of the microbenchmarks on GPUs.
package measured

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/deploy/calibrate/results"
)

// Records reads a file of results. Where it is one of those that "make data" brings, and is not here, the test is skipped.
func Records[T any](t testing.TB, path string) []T {
	t.Helper()
	records, err := results.Read[T](path)
	judge(t, path, err)
	return records
}

// Content is the text of a file of results, or the test is skipped.
func Content(t testing.TB, path string) []byte {
	t.Helper()
	content, err := results.Content(path)
	judge(t, path, err)
	return content
}

// judge ends a test whose file could not be read: it is skipped if the file is to be fetched.
func judge(t testing.TB, path string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	dir, file := filepath.Split(path)
	if errors.Is(err, fs.ErrNotExist) {
		if m, bad := datasets.Load(filepath.Join(dir, "../datasets")); bad == nil && slices.ContainsFunc(m.Results, func(f datasets.Fetch) bool { return f.File == file }) {
			t.Skipf("%s is in the repository's history: \"make data\" brings it", path)
		}
	}
	t.Fatal(err)
}

// Of reads the microbenchmark results of a name, of an H200.
func Of(t *testing.T, name string) []Measurement {
	t.Helper()
	return On(t, "h200", name)
}

// On reads those of a GPU.
func On(t *testing.T, gpu, name string) []Measurement {
	t.Helper()
	var out []Measurement
	for _, m := range Records[Measurement](t, "../../../deploy/calibrate/results/"+gpu+".jsonl.gz") {
		if m.Name == name {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no measurement of %s", name)
	}
	return out
}

// Measurement is one result: its parameters, and a value in the unit of its benchmark.
type Measurement struct {
	Name   string
	Params map[string]any
	Value  float64
}

// Int is a parameter that is a whole number, 0 where there is none of the name.
func (m *Measurement) Int(name string) int {
	v, _ := m.Params[name].(float64)
	return int(v)
}

// Text is a parameter that is text, empty where there is none of the name.
func (m *Measurement) Text(name string) string {
	v, _ := m.Params[name].(string)
	return v
}
