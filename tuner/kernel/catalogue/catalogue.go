// Package catalogue holds the built-in kernels: source, definition and prebuilt
// PTX, embedded, so that the first sweep needs neither files nor a compiler. They
// are what introductions to CUDA teach, one mechanism each.
//
// It does not compile (package compile does); gen regenerates the prebuilt PTX.
package catalogue

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
)

//go:generate go run ./gen

//go:embed kernels
var kernelFiles embed.FS

// titles names every built-in kernel with what it shows, in the order listed.
var titles = []struct{ name, title string }{
	{"copy", "streaming copy: items per thread, memory bandwidth"},
	{"copy_strided", "strided reads: coalescing into 32-byte sectors"},
	{"random_gather", "gather through an index array: cache hit rate and latency"},
	{"transpose_naive", "transpose, one side uncoalesced: the block's shape"},
	{"transpose_tiled", "transpose through shared memory: bank conflicts and padding"},
	{"stencil_1d", "1-D stencil in a shared tile with a halo"},
	{"laplace_2d", "5-point Laplacian: shared tile or L1"},
	{"blur", "box blur of a byte image: small accesses, halo, reuse"},
	{"moving_average", "run-time radius: dynamic shared memory or L1"},
	{"table_lookup", "interpolation in a table: the read-only path and aliasing"},
	{"const_filter", "FIR filter: constant memory, uniform or per lane"},
	{"reduce", "block sums: divergence, contiguity, shuffles"},
	{"reduce_atomic", "sum in one launch: atomics per thread, warp or block, or last block"},
	{"prefix_sum", "block scan: barriers, shuffles, work efficiency"},
	{"histogram", "byte histogram: global and privatised shared atomics"},
	{"median_1d", "sliding median: local array indexed at run time, or registers"},
	{"fat_threads", "many live accumulators: register cap and spills"},
	{"compute_bound", "sines and cosines: the special-function unit"},
	{"nbody", "n-body accelerations: broadcast from shared memory, unrolling"},
	{"sgemm", "register-tiled matrix product"},
}

// Kernel is one built-in kernel. It is immutable and safe for concurrent use.
type Kernel struct {
	Name  string
	Title string // what it shows, a line

	prebuilt func() (*Archive, error)
}

// kernels are in the order of titles.
var kernels = sync.OnceValue(func() []*Kernel {
	var all []*Kernel
	for _, t := range titles {
		all = append(all, &Kernel{Name: t.name, Title: t.title, prebuilt: sync.OnceValues(func() (*Archive, error) {
			return readArchive(t.name)
		})})
	}
	return all
})

// All returns the built-in kernels in the order they are listed.
func All() []*Kernel { return slices.Clone(kernels()) }

// Names returns the built-in kernels' names in the order they are listed.
func Names() []string {
	var names []string
	for _, k := range kernels() {
		names = append(names, k.Name)
	}
	return names
}

// Open returns a built-in kernel by name.
func Open(name string) (*Kernel, error) {
	for _, k := range kernels() {
		if k.Name == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("no built-in kernel %q: use one of %s, or a path to a definition (.json)", name, strings.Join(Names(), ", "))
}

// Text returns the definition as written (T1).
func (k *Kernel) Text() []byte { return k.file(k.Name + ".json") }

// Source returns the CUDA C++ source, which the definition calls SourceName.
func (k *Kernel) Source() []byte { return k.file(k.SourceName()) }

// SourceName is the source's file name.
func (k *Kernel) SourceName() string { return k.Name + ".cu" }

// Definition reads the kernel's definition.
func (k *Kernel) Definition() (*kernel.Definition, error) {
	d, warnings, err := kernel.Parse(k.Name, k.Text(), files{})
	if err != nil {
		return nil, fmt.Errorf("built-in kernel %s: %w", k.Name, err)
	}
	if len(warnings) > 0 {
		return nil, fmt.Errorf("built-in kernel %s: %s: %s", k.Name, warnings[0].Field, warnings[0].Message)
	}
	return d, nil
}

// Definitions are those of all kernels, by name.
func Definitions() (map[string]*kernel.Definition, error) {
	all := map[string]*kernel.Definition{}
	for _, k := range kernels() {
		d, err := k.Definition()
		if err != nil {
			return nil, err
		}
		all[k.Name] = d
	}
	return all, nil
}

func (k *Kernel) file(name string) []byte {
	b, err := files{}.ReadFile(name)
	if err != nil {
		panic(err) // a test opens every one of them
	}
	return b
}

// files is the kernels' folder.
type files struct{}

var _ call.Files = files{}

func (files) ReadFile(name string) ([]byte, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return kernelFiles.ReadFile(path.Join("kernels", name))
}

// Provenance says where a kernel's prebuilt PTX comes from.
type Provenance struct {
	Kernel   string `json:"kernel"`
	Source   string `json:"source"`   // digest of the source it was made from, as source.Source.Digest
	Compiler string `json:"compiler"` // e.g. "nvrtc 13.0"
	Target   string `json:"target"`   // e.g. "sm_90"
	Variants int    `json:"variants"` // compile variants in the archive
	SHA256   string `json:"sha256"`   // of the archive file
}

//go:embed prebuilt/index.json
var indexText []byte

var index = sync.OnceValues(func() ([]Provenance, error) {
	var all []Provenance
	if err := json.Unmarshal(indexText, &all); err != nil {
		return nil, fmt.Errorf("prebuilt/index.json: %w", err)
	}
	return all, nil
})

// Index returns the provenance of every archive.
func Index() ([]Provenance, error) {
	all, err := index()
	return slices.Clone(all), err
}

// BySource returns the kernel whose prebuilt PTX was made from the source with
// this digest.
func BySource(digest string) (*Kernel, bool) {
	all, err := index()
	if err != nil {
		return nil, false
	}
	for _, p := range all {
		if p.Source == digest {
			k, err := Open(p.Kernel)
			return k, err == nil
		}
	}
	return nil, false
}
