package faults

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warptune/warptune/tuner/tunertest"
)

// A coordinator is replaced in mid-sweep by one of a later schema: it backs up
// the file that the other was killed on, and the sweep ends as if nothing had
// been.
func TestUpgradedInMidSweep(t *testing.T) {
	f, err := os.Open("../store/testdata/v1.db.zst") // its second sweep has 88 results of 200
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sweeps.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	s := storedSweep(t, path, tunertest.Bundle{Size: 200, Batch: 8}, 2)
	s.calm()
	fleet := s.fleet(t, never, func() (role, []string) { return s.coordinator(), nil })
	fleet.wait(t)
	s.verdict(t)
	if _, err := os.Stat(path + ".v1.backup"); err != nil {
		t.Error(err)
	}
	if n := len(s.witness.all()); n != 112 {
		t.Errorf("%d results are new, want the 112 that were missing", n)
	}
}
