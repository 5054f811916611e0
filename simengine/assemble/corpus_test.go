package assemble

import (
	"path"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/datasets"
	"github.com/warptune/warptune/simengine/assemble/asmtest"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

// openCorpus opens folders and archives of PTX files, which are closed at the end of the test.
func openCorpus(t testing.TB, paths ...string) *asmtest.Corpus {
	t.Helper()
	c := asmtest.NewCorpus()
	for _, path := range paths {
		files, done, err := ptxfiles.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(done)
		names, err := ptxfiles.Names(files)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			c.Files[strings.TrimSuffix(name, ".ptx")] = files
		}
	}
	return c
}

func loadDatasets(t testing.TB) *datasets.Manifest {
	t.Helper()
	m, err := datasets.Load("../../deploy/calibrate/datasets")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// measuredArchives are the PTX archives of the data sets that are in the checkout.
func measuredArchives(t testing.TB) []string {
	t.Helper()
	return loadDatasets(t).Archives()
}

// measuredKernel is a kernel of a data set, named SET/PTX. Without the set's PTX the test is skipped.
func measuredKernel(t testing.TB, name string) *ir.Kernel {
	t.Helper()
	set, ptx := path.Split(name)
	s, err := loadDatasets(t).Find(strings.TrimSuffix(set, "/"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Missing(); err != nil {
		t.Skip(err)
	}
	return openCorpus(t, s.Path(s.Files.PTX)).Kernel(t, ptx)
}
