package asmtest

import (
	"io/fs"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ir/sroa"
	"github.com/warptune/warptune/simengine/ir/unroll"
	"github.com/warptune/warptune/simengine/ptx"
)

// Corpus holds kernels of PTX files, each in the file system that has it.
type Corpus struct {
	Files   map[string]fs.FS // by name without .ptx
	kernels map[string]*ir.Kernel
}

// NewCorpus is a corpus without files.
func NewCorpus() *Corpus {
	return &Corpus{Files: map[string]fs.FS{}, kernels: map[string]*ir.Kernel{}}
}

// Text is the text of a PTX file, named without its suffix.
func (c *Corpus) Text(t testing.TB, name string) []byte {
	t.Helper()
	files := c.Files[name]
	if files == nil {
		t.Fatalf("no PTX %s", name)
	}
	text, err := fs.ReadFile(files, name+".ptx")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Kernel is the kernel of a PTX file, named without its suffix.
func (c *Corpus) Kernel(t testing.TB, name string) *ir.Kernel {
	t.Helper()
	k := c.kernels[name]
	if k == nil {
		k = BuildKernel(t, name, c.Text(t, name))
		c.kernels[name] = k
	}
	return k
}

// BuildKernel builds the only kernel of a PTX text.
func BuildKernel(t testing.TB, name string, src []byte) *ir.Kernel {
	t.Helper()
	m, err := ptx.Parse(name+".ptx", src)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := lower.Build(m)
	if err != nil {
		t.Fatal(err)
	}
	return sroa.Promote(unroll.Loops(mod.Kernels[0]))
}
