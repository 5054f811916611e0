package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/page/bundle"
)

const web, dist = "../web", "../dist"

// TestSourcesDigest needs no npm: whoever edits a source and does not bundle it again is told.
func TestSourcesDigest(t *testing.T) {
	want, err := bundle.SourcesDigest(web)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dist, bundle.Digest))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(got)) != want {
		t.Errorf("tuner/page/dist was made of other sources than tuner/page/web has: make page")
	}
}

// TestDist bundles the sources again and compares every byte.
func TestDist(t *testing.T) {
	if _, err := os.Stat(filepath.Join(web, "node_modules")); err != nil {
		t.Skip("tuner/page/web/node_modules is missing (make page-packages): only the sources' digest is compared")
	}
	files, err := bundle.Build(web)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := bundle.Read(dist, name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources give (%v): make page", name, err)
		}
	}
	have, err := os.ReadDir(dist)
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != len(files) {
		t.Errorf("%s has %d files, the bundle %d", dist, len(have), len(files))
	}
}
