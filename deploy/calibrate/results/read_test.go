package results_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
)

type record struct{ N int }

// write writes a file, packed where its name says so.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		_, err = f.WriteString(text)
	} else {
		z := gzip.NewWriter(f)
		if _, err = z.Write([]byte(text)); err == nil {
			err = z.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Packed and not, what was written is read, lines of any length.
func TestReadsWhatWasWritten(t *testing.T) {
	for _, name := range []string{"r.jsonl", "r.jsonl.gz"} {
		got, err := results.Read[record](write(t, name, `{"n": 1}`+"\n"+`{"n": 2, "long": "`+strings.Repeat("x", 1<<20)+`"}`+"\n"))
		if err != nil || !slices.Equal(got, []record{{1}, {2}}) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// What is not a file of such records is an error that names it.
func TestBadFiles(t *testing.T) {
	packed, err := os.ReadFile(write(t, "r.jsonl.gz", strings.Repeat(`{"n": 1}`+"\n", 1000)))
	if err != nil {
		t.Fatal(err)
	}
	cut := write(t, "cut", string(packed[:len(packed)-9]))
	if err := os.Rename(cut, cut+".gz"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"nothing.jsonl", cut + ".gz", write(t, "empty.jsonl", ""), write(t, "cut.jsonl", `{"n": 1}`+"\n"+`{"n"`),
		write(t, "other.jsonl", `{"n": "one"}`),
	} {
		if got, err := results.Read[record](path); err == nil || got != nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}
