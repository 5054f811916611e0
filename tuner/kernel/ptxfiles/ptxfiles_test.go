package ptxfiles_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

var texts = map[string]string{"a-1.ptx": "one", "a-2.ptx": "", "b-3.ptx": strings.Repeat("add.f32 %f1, %f2, %f3;\n", 1<<12)}

// places writes the texts as a directory, a .zip with a folder in it, and a .tar.zst.
func places(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ptx")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var zipped, packed bytes.Buffer
	z := zip.NewWriter(&zipped)
	c, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(c)
	for name, text := range texts {
		write(t, filepath.Join(dir, name), []byte(text))
		w, err := z.Create("folder/" + name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Write([]byte(text))
		header := tw.WriteHeader(&tar.Header{Name: "folder/" + name, Mode: 0o644, Size: int64(len(text))})
		_, body := tw.Write([]byte(text))
		if err := errors.Join(err, header, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(z.Close(), tw.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}
	return []string{dir, write(t, dir+".zip", zipped.Bytes()), write(t, dir+".tar.zst", packed.Bytes())}
}

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// Wherever they are kept, the same files are read, whole, and by their names.
func TestSameFilesEverywhere(t *testing.T) {
	for _, place := range places(t) {
		files, done, err := ptxfiles.Open(place)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		names, err := ptxfiles.Names(files)
		if err != nil || !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(maps.Keys(texts))) {
			t.Errorf("%s: names %v, %v", place, names, err)
		}
		for name, want := range texts {
			got, err := fs.ReadFile(files, name)
			if err != nil || string(got) != want {
				t.Errorf("%s, %s: %d bytes, %v, want %d", place, name, len(got), err, len(want))
			}
			f, err := files.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			if i, err := f.Stat(); err != nil || i.Size() != int64(len(want)) || i.Name() != name || i.IsDir() {
				t.Errorf("%s, %s: stat %v, %v", place, name, i, err)
			}
			f.Close()
		}
		if _, err := files.Open("c-4.ptx"); !os.IsNotExist(err) {
			t.Errorf("%s: what is not there: %v", place, err)
		}
	}
}

// What is damaged, or nothing of the kind, is an error that names it.
func TestBadPlaces(t *testing.T) {
	all := places(t)
	for _, place := range append(all[1:], filepath.Join(filepath.Dir(all[0]), "absent")) {
		content, _ := os.ReadFile(place)
		bad := filepath.Join(t.TempDir(), "cut"+strings.TrimPrefix(filepath.Base(place), "ptx"))
		if len(content) > 0 {
			write(t, bad, content[:len(content)/2])
		}
		if files, _, err := ptxfiles.Open(bad); err == nil || files != nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, %v", bad, files, err)
		}
	}
	if _, _, err := ptxfiles.Open(write(t, filepath.Join(t.TempDir(), "x.ptx"), nil)); err == nil || !strings.Contains(err.Error(), ".tar.zst") {
		t.Errorf("a plain file: %v", err)
	}
}
