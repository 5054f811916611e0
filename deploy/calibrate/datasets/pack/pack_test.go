package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What records name is packed, in order, and nothing else; a PTX that is missing is an error that names it.
func TestPack(t *testing.T) {
	set, ptx := t.TempDir(), t.TempDir()
	for _, name := range []string{"a", "b", "other"} {
		if err := os.WriteFile(filepath.Join(ptx, name+".ptx"), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	records := func(text string) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, err := z.Write([]byte(text))
		if err = errors.Join(err, z.Close(), os.WriteFile(filepath.Join(set, "timings.jsonl.gz"), packed.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	records(`{"ptx": "b"} {"ptx": "a"} {"ptx": "b"}`)
	var out bytes.Buffer
	if err := pack(&out, ptx, set); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := tar.NewReader(&out); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		text, err2 := io.ReadAll(r)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		got = append(got, h.Name+": "+string(text))
	}
	if want := []string{"a.ptx: text of a", "b.ptx: text of b"}; !slices.Equal(got, want) {
		t.Errorf("packed %q, want %q", got, want)
	}
	for text, want := range map[string]string{`{"ptx": "missing"}`: "missing.ptx", `{"ptx": "a"} {}`: "record 2"} {
		records(text)
		if err := pack(io.Discard, ptx, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := pack(io.Discard, ptx, ptx); err == nil {
		t.Error("a set without records was packed")
	}
}
