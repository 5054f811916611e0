package exec

import (
	"archive/zip"
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// record is one measured configuration of the dataset.
type record struct {
	Kernel        string
	Group         string
	ProblemSize   []int          `json:"problem_size"`
	Params        map[string]int `json:"params"`
	PTX           string
	Block, Grid   [3]int
	DynamicShared int `json:"dynamic_smem"`
}

// sharedDir is ../shared beside the repository; the test is skipped without it.
func sharedDir(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the package")
		}
		dir = filepath.Dir(dir)
	}
	dir = filepath.Join(dir, "..", "shared")
	if env := os.Getenv("WARPTUNE_SHARED"); env != "" {
		dir = env
	}
	if _, err := os.Stat(filepath.Join(dir, "silicon")); err != nil {
		t.Skipf("needs the measurements in %s: %v", dir, err)
	}
	return dir
}

var archives sync.Map

// ptxFile reads one file of a PTX archive of the dataset.
func ptxFile(t testing.TB, archive, stem string) []byte {
	path := filepath.Join(sharedDir(t), "silicon", "h200", archive)
	v, ok := archives.Load(path)
	if !ok {
		z, err := zip.OpenReader(path)
		if err != nil {
			t.Fatal(err)
		}
		v, _ = archives.LoadOrStore(path, z)
	}
	f, err := v.(*zip.ReadCloser).Open(stem + ".ptx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// records reads a file of the dataset.
func records(t testing.TB, name string) []record {
	out, err := results.Read[record](filepath.Join(sharedDir(t), "silicon", "h200", name))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// buildKernel parses and builds the only kernel of a PTX text.
func buildKernel(t testing.TB, name string, text []byte) *ir.Kernel {
	t.Helper()
	src, err := ptx.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := lower.Build(src)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func compileFor(t testing.TB, k *ir.Kernel, mode Mode) *Program {
	t.Helper()
	p, err := Compile(k, mode)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func readFloats(t testing.TB, m *memory.Device, name string) []float32 {
	t.Helper()
	b, err := m.ReadBuffer(name)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func readInts(t testing.TB, m *memory.Device, name string) []int32 {
	t.Helper()
	b, err := m.ReadBuffer(name)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
