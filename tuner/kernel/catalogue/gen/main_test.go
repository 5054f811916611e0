package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/catalogue"
)

// unpack writes a kernel's archive out as a folder of PTX and records that name
// the files.
func unpack(t *testing.T, name string) (dir, records string) {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("..", "prebuilt", name+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	variants, err := catalogue.DecodeArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	var lines strings.Builder
	for i, v := range variants {
		stem := fmt.Sprintf("%s-%d", name, i)
		if err := os.WriteFile(filepath.Join(dir, stem+".ptx"), v.PTX, 0o600); err != nil {
			t.Fatal(err)
		}
		params := strings.NewReplacer(`:"`, ":", `",`, ",", `"}`, "}").Replace(v.Macros)
		fmt.Fprintf(&lines, `{"kernel":%q,"params":%s,"ptx":%q}`+"\n", name, params, stem)
	}
	records = filepath.Join(dir, "records.jsonl")
	if err := os.WriteFile(records, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, records
}

// From the same PTX come the same bytes, archive and index entry alike.
func TestFromFolderIsDeterministic(t *testing.T) {
	dir, records := unpack(t, "copy")
	want, err := os.ReadFile(filepath.Join("..", "prebuilt", "copy.zst"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := catalogue.Index()
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if err := os.Mkdir(filepath.Join(out, "prebuilt"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(out)
	if err := generate(context.Background(), []string{"-kernels", "copy", "-from", dir, "-records", records, "-label", "nvrtc 13.0"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("prebuilt/copy.zst")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the archive differs from the one it was unpacked from")
	}
	text, err := os.ReadFile("prebuilt/index.json")
	if err != nil {
		t.Fatal(err)
	}
	var after []catalogue.Provenance
	if err := json.Unmarshal(text, &after); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("index %v, want %v", after, before)
	}
}

func TestFromFolderErrors(t *testing.T) {
	dir, records := unpack(t, "copy")
	if err := os.Remove(filepath.Join(dir, "copy-3.ptx")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-kernels", "copy", "-from", dir, "-records", records, "-label", "x"}, "copy-3.ptx"},
		{[]string{"-kernels", "reduce", "-from", dir, "-records", records, "-label", "x"}, "no record names the PTX"},
		{[]string{"-kernels", "copy", "-from", dir}, "-records and -label"},
		{[]string{"-kernels", "none"}, "no built-in kernel"},
		{[]string{"-compiler", "prebuilt"}, "prebuilt"},
	} {
		if err := generate(context.Background(), tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
}
