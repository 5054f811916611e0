package datasets

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The manifest says what is there: files, counts, kernels.
func TestManifestSaysWhatIsThere(t *testing.T) {
	m, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check("."); err != nil {
		t.Error(err)
	}
	if len(m.Here()) < 1 || len(m.Archives()) < 1 {
		t.Errorf("%d sets and %d archives are here", len(m.Here()), len(m.Archives()))
	}
}

// What an entry leaves out is the manifest's commit, and the place where the file is now.
func TestEntriesAreCompleted(t *testing.T) {
	of := func(digit string, n int) string { return strings.Repeat(digit, n) }
	text := strings.Replace(good, `"groups": 2}]}`, `"groups": 2, "fetch": [{"sha256": "`+of("a", 64)+`"}, {"file": "p.zip", "commit": "`+of("2", 40)+`", "path": "old/p.zip", "sha256": "`+of("b", 64)+`"}]}],
		"commit": "`+of("1", 40)+`", "results": [{"file": "r.gz", "sha256": "`+of("c", 64)+`"}], "programs": [{"file": "microbench/p.cu", "sha256": "`+of("d", 64)+`"}]}`, 1)
	m, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Fetch{{"", of("1", 40), "deploy/calibrate/datasets/a-b", of("a", 64)}, {"p.zip", of("2", 40), "old/p.zip", of("b", 64)},
		{"r.gz", of("1", 40), "deploy/calibrate/results/r.gz", of("c", 64)}, {"microbench/p.cu", of("1", 40), "deploy/calibrate/microbench/p.cu", of("d", 64)}}
	if got := slices.Concat(m.Sets[0].Fetch, m.Results, m.Programs); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What is fetched is not committed again.
func TestFetchedIsIgnored(t *testing.T) {
	m, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := os.ReadFile("../../../.gitignore")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range m.Fetchable() {
		lines := []string{"/deploy/calibrate/datasets/" + s.Name + "/\n"}
		if dir, ok := map[string]string{"results": "results/", "programs": ""}[s.Name]; ok {
			lines = nil
			for _, f := range s.Fetch {
				lines = append(lines, "/deploy/calibrate/"+dir+f.File+"\n")
			}
		}
		for _, line := range lines {
			if !strings.Contains(string(ignored), line) {
				t.Errorf(".gitignore lacks %s", line)
			}
		}
	}
}

const good = `{"sets": [{"name": "a-b", "holds": "x", "gpu": "g", "arch": "h200", "compiler": "c", "author": "project", "role": "seen",
	"files": {"timings": "t.jsonl.gz", "kernels": "kernels"}, "configurations": 2, "kernels": 1, "groups": 2}]}`

// small makes a directory with the good manifest and its files, with old replaced by new in the manifest.
func small(t *testing.T, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	if !strings.Contains(good, old) {
		t.Fatalf("the manifest has no %s", old)
	}
	put(t, filepath.Join(dir, "manifest.json"), strings.Replace(good, old, new, 1))
	put(t, filepath.Join(dir, "a-b", "kernels", "k.json"), "{}")
	put(t, filepath.Join(dir, "a-b", "kernels", "k.cu"), "")
	put(t, filepath.Join(dir, "a-b", "t.jsonl.gz"), `{"kernel": "k", "group": "1"} {"kernel": "k", "group": "2"}`)
	return dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name)
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
}

// What is wrong in a manifest is an error that says what.
func TestBadManifests(t *testing.T) {
	if _, err := Load(small(t, "x", "x")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"holds"`, `"hold"`, "hold"},
		{`"a-b"`, `"A"`, "lower-case"},
		{`"project"`, `"me"`, "author"},
		{`"seen"`, `""`, "role"},
		{`"configurations": 2`, `"configurations": 0`, "counts"},
		{`"kernels": 1`, `"kernels": 1, "measured": "yesterday"`, "measured"},
		{`"kernels": 1`, `"kernels": 1, "blind": [{"cycle": {"regret1": 0.9, "mape": 3}}]`, "0.9"},
		{`"kernels": 1`, `"kernels": 1, "blind": [{"model": {"regret1": 1, "mape": 3}}]`, "cycle"},
		{`"kernels": 1`, `"kernels": 1, "fetch": [{"commit": "1", "path": "p", "sha256": ""}]`, "fetch"},
		{`]}`, `], "results": [{"file": "r", "commit": "1", "path": "p", "sha256": ""}]}`, "results"},
		{`]}`, `]} x`, "after"},
	} {
		if m, err := Load(small(t, c[0], c[1])); err == nil || m != nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s for %s: %v", c[1], c[0], err)
		}
	}
	if _, err := Load(t.TempDir()); !os.IsNotExist(err) {
		t.Errorf("nothing there: %v", err)
	}
}

// What differs between a manifest and the files beside it is an error that names it.
func TestCheckSeesWhatDiffers(t *testing.T) {
	check := func(dir string) error {
		m, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return m.Check(dir)
	}
	if err := check(small(t, "x", "x")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]string{
		{`"configurations": 2`, `"configurations": 3`, "2 configurations"},
		{`"groups": 2`, `"groups": 1`, "2 groups"},
		{`"kernels": 1`, `"kernels": 2`, "1 kernels"},
		{`"timings": "t.`, `"timings": "u.`, "u.jsonl.gz"},
		{`"kernels": "kernels"`, `"ptx": "p.zip", "kernels": "kernels"`, "p.zip"},
	} {
		if err := check(small(t, c[0], c[1])); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s for %s: %v", c[1], c[0], err)
		}
	}
	dir := small(t, "x", "x")
	put(t, filepath.Join(dir, "a-b", "more.jsonl"), "")
	put(t, filepath.Join(dir, "a-b", "kernels", "other.cu"), "")
	if err := check(dir); err == nil || !strings.Contains(err.Error(), "more.jsonl") || !strings.Contains(err.Error(), "other.cu") {
		t.Errorf("two files too many: %v", err)
	}
	dir = small(t, "x", "x")
	os.Remove(filepath.Join(dir, "a-b", "kernels", "k.json"))
	if err := check(dir); err == nil || !strings.Contains(err.Error(), "definition of k") {
		t.Errorf("no definition: %v", err)
	}
}

// A file to be fetched may be missing; another file in its place is seen.
func TestFetched(t *testing.T) {
	dir := small(t, `"kernels": "kernels"}`, `"kernels": "kernels", "ptx": "p.zip"}, "fetch": [`+entry("p.zip", sumOfNothing)+`]`)
	m, s := load(t, dir)
	if err := s.Missing(); err == nil || !strings.Contains(err.Error(), "make data") || m.Check(dir) != nil {
		t.Errorf("missing: %v, %v", err, m.Check(dir))
	}
	put(t, s.Path("p.zip"), "")
	if s.Missing() != nil || m.Check(dir) != nil {
		t.Errorf("there: %v, %v", s.Missing(), m.Check(dir))
	}
	put(t, s.Path("p.zip"), "x")
	if err := m.Check(dir); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("another: %v", err)
	}
	if _, err := m.Find("c"); err == nil || !strings.Contains(err.Error(), "a-b") {
		t.Errorf("no such set: %v", err)
	}
}

// A set to be fetched whole may be missing; one file of it changed, gone or added is seen, but not the file that
// another entry names.
func TestFetchedWhole(t *testing.T) {
	fetched := func(sum string) string {
		return small(t, `"kernels": "kernels"}`, `"kernels": "kernels", "ptx": "p.zip"}, "fetch": [`+entry("", sum)+`, `+entry("p.zip", sumOfNothing)+`]`)
	}
	dir := fetched(sumOfNothing)
	sum, err := Sum(filepath.Join(dir, "a-b"))
	if err != nil {
		t.Fatal(err)
	}
	dir = fetched(sum)
	m, s := load(t, dir)
	if err := m.Check(dir); err != nil || s.Missing() == nil {
		t.Errorf("without the PTX: %v, %v", err, s.Missing())
	}
	put(t, s.Path("p.zip"), "")
	if err := m.Check(dir); err != nil || s.Missing() != nil {
		t.Errorf("all there: %v, %v", err, s.Missing())
	}
	for _, file := range []string{"kernels/k.cu", "kernels/new.cu"} {
		put(t, s.Path(file), "x")
		if err := m.Check(dir); err == nil || !strings.Contains(err.Error(), "sha256") {
			t.Errorf("%s changed: %v", file, err)
		}
		if err := os.Remove(s.Path(file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Check(dir); err == nil || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("a file gone: %v", err)
	}
	for _, gone := range []string{"kernels", "t.jsonl.gz", "p.zip"} {
		if err := os.RemoveAll(s.Path(gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Check(dir); err != nil || s.Missing() == nil {
		t.Errorf("nothing there: %v, %v", err, s.Missing())
	}
}

const sumOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// entry is an entry of fetch.
func entry(file, sum string) string {
	return `{"file": "` + file + `", "commit": "` + strings.Repeat("0", 40) + `", "path": "p", "sha256": "` + sum + `"}`
}

// load reads a manifest whose set is a-b.
func load(t *testing.T, dir string) (*Manifest, *Set) {
	t.Helper()
	m, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Find("a-b")
	if err != nil {
		t.Fatal(err)
	}
	return m, s
}
