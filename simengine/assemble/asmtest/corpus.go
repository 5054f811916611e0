package asmtest

import (
	"archive/zip"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ptx"
)

// Corpus holds the kernels of archives of PTX files.
type Corpus struct {
	Files   map[string]*zip.File
	kernels map[string]*ir.Kernel
}

// OpenCorpus opens archives, which are closed at the end of the test.
func OpenCorpus(t testing.TB, paths ...string) *Corpus {
	c := &Corpus{Files: map[string]*zip.File{}, kernels: map[string]*ir.Kernel{}}
	for _, path := range paths {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { z.Close() })
		for _, f := range z.File {
			c.Files[strings.TrimSuffix(filepath.Base(f.Name), ".ptx")] = f
		}
	}
	return c
}

// Kernel is the kernel of a PTX file, named without its suffix.
func (c *Corpus) Kernel(t testing.TB, name string) *ir.Kernel {
	if k := c.kernels[name]; k != nil {
		return k
	}
	f := c.Files[name]
	if f == nil {
		t.Fatalf("no PTX %s", name)
	}
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	k := BuildKernel(t, name, src)
	c.kernels[name] = k
	return k
}

// BuildKernel builds the only kernel of a PTX text.
func BuildKernel(t testing.TB, name string, src []byte) *ir.Kernel {
	t.Helper()
	m, err := ptx.Parse(name+".ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := ir.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	return mod.Kernels[0].Unrolled().Held()
}
