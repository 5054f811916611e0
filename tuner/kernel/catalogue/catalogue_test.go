package catalogue_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/catalogue/reference"
)

func TestEveryFileIsListedOnce(t *testing.T) {
	var want []string
	for _, n := range catalogue.Names() {
		want = append(want, n+".cu", n+".json")
	}
	slices.Sort(want)
	entries, err := fs.ReadDir(os.DirFS("."), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("kernels/ holds %v, the list names %v", got, want)
	}
	for _, k := range catalogue.All() {
		if k.Title == "" || len(k.Title) > 72 || len(k.Source()) == 0 || len(k.Text()) == 0 {
			t.Errorf("%s: title %q", k.Name, k.Title)
		}
	}
}

// Every configuration of every kernel has its PTX, made from the present source.
// After editing a source or a definition: make catalogue.
func TestPrebuiltIsComplete(t *testing.T) {
	for _, k := range catalogue.All() {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			why, err := catalogue.Stale(k)
			if err != nil {
				t.Fatal(err)
			}
			if why != "" {
				t.Errorf("%s; run make catalogue", why)
			}
		})
	}
}

// The archives are what the index says, and encode to the same bytes again.
func TestArchivesMatchIndex(t *testing.T) {
	index, err := catalogue.Index()
	if err != nil {
		t.Fatal(err)
	}
	if len(index) != len(catalogue.Names()) {
		t.Errorf("the index has %d entries for %d kernels", len(index), len(catalogue.Names()))
	}
	for _, p := range index {
		t.Run(p.Kernel, func(t *testing.T) {
			t.Parallel()
			archive, err := os.ReadFile("prebuilt/" + p.Kernel + ".zst")
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != p.SHA256 {
				t.Errorf("digest %x, index says %s", sum, p.SHA256)
			}
			variants, err := catalogue.DecodeArchive(archive)
			if err != nil {
				t.Fatal(err)
			}
			if len(variants) != p.Variants || p.Compiler == "" {
				t.Errorf("%d variants by %q, index says %d", len(variants), p.Compiler, p.Variants)
			}
			for _, v := range variants {
				if ptx := string(v.PTX); !strings.Contains(ptx, ".entry "+p.Kernel+"(") || !strings.Contains(ptx, ".target "+p.Target) {
					t.Fatalf("%s: no entry %s for %s", v.Macros, p.Kernel, p.Target)
				}
			}
		})
	}
}

func TestArchiveRoundTrip(t *testing.T) {
	variants := []catalogue.Variant{{Macros: `{"A":"2"}`, PTX: []byte("two\n")}, {Macros: `{"A":"1"}`, PTX: []byte("one")}, {Macros: `{"A":"3"}`}}
	a, sum, err := catalogue.EncodeArchive(variants)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(variants)
	b, again, err := catalogue.EncodeArchive(variants)
	if err != nil || !bytes.Equal(a, b) || sum != again {
		t.Errorf("another order gives other bytes: %v", err)
	}
	got, err := catalogue.DecodeArchive(a)
	if err != nil || len(got) != 3 || got[0].Macros != `{"A":"1"}` || string(got[1].PTX) != "two\n" || len(got[2].PTX) != 0 {
		t.Errorf("got %q, %v", got, err)
	}
	if _, _, err := catalogue.EncodeArchive(append(variants, variants[0])); err == nil {
		t.Error("a variant may appear twice")
	}
	for n := range a {
		if _, err := catalogue.DecodeArchive(a[:n]); err == nil {
			t.Errorf("an archive cut at %d of %d bytes is read", n, len(a))
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	if _, err := catalogue.Open("transpose"); err == nil || !strings.Contains(err.Error(), "transpose_tiled") {
		t.Errorf("got %v, want the names there are", err)
	}
}

func TestEveryKernelHasAReference(t *testing.T) {
	for _, n := range catalogue.Names() {
		if _, err := reference.Problem(n, nil); err != nil {
			t.Error(err)
		}
	}
}
