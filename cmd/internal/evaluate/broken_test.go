package evaluate

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

// The source of the broken kernels, and the PTX of their configurations, kKIND_BLOCK.ptx.
const (
	brokenDir     = "testdata/broken/"
	brokenArchive = brokenDir + "ptx.tar.zst"
)

// readable is files as a definition reads them.
type readable struct{ fs.FS }

func (r readable) ReadFile(name string) ([]byte, error) { return fs.ReadFile(r.FS, name) }

// brokenFiles are the PTX of the broken kernels.
func brokenFiles(t *testing.T) readable {
	t.Helper()
	files, done, err := ptxfiles.Open(brokenArchive)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(done)
	return readable{files}
}

// brokenKinds are the kinds of broken.cu: which configurations are broken, and what is to be said of them.
var brokenKinds = []struct {
	kind     int
	blocks   string
	bad      string // the value of BLOCK, "": each
	validity tuner.Validity
	says     string
	sliced   bool // it is found without executing what values depend on
}{
	{1, "[64, 128]", "", tuner.Correctness, "race", false},
	{2, "[64, 128]", "", tuner.Correctness, "race", false},
	{3, "[64, 128]", "", tuner.Correctness, "race", false},
	{4, "[64, 128]", "", tuner.Runtime, "barrier", true},
	{5, "[64, 128]", "", tuner.Runtime, "Arguments[0]", true},
	{6, "[64, 128]", "", tuner.Runtime, "Arguments[1]", true},
	{7, "[64, 128]", "", tuner.Runtime, "Arguments[2]", true},
	{8, "[64, 128, 256]", "128", tuner.Correctness, "argument out, element", false},
	{9, "[64, 128]", "", tuner.Correctness, "uninitialised", false},
	{10, "[64, 128]", "", tuner.Runtime, "Arguments[0]", true},
	{11, "[64, 128, 256]", "64", tuner.Correctness, "argument out, element", false},
}

// brokenPlaces are the CTAs in which they are broken.
var brokenPlaces = []struct{ name, cta string }{
	{"first", "0"}, {"middle", "ProblemSize[0]//BLOCK//2 - 3"}, {"last", "ProblemSize[0]//BLOCK - 1"},
}

// brokenDefinition is that of a kind, of PTX or, to make that, of its source.
func brokenDefinition(t *testing.T, kind int, blocks, where, language string) *kernel.Definition {
	t.Helper()
	file, files := "broken.cu", call.Files(call.Dir(brokenDir))
	if language == "PTX" {
		file, files = "k{KIND}_{BLOCK}.ptx", brokenFiles(t)
	}
	buffer := func(name, access string) string {
		return fmt.Sprintf(`{"Name": %q, "Type": "float", "Size": "ProblemSize[0]", "FillType": "Random", "FillValue": 1, "RandomSeed": %d, "AccessType": %q}`, name, len(name), access)
	}
	scalar := func(name, value string) string {
		return fmt.Sprintf(`{"Name": %q, "Type": "int32", "MemoryType": "Scalar", "FillValue": %q}`, name, value)
	}
	text := fmt.Sprintf(`{"General": {"BenchmarkName": "broken%d"}, "ConfigurationSpace": {"TuningParameters": [
		{"Name": "KIND", "Type": "int", "Values": "[%d]"}, {"Name": "BLOCK", "Type": "int", "Values": %q}]},
		"KernelSpecification": {"Language": %q, "KernelName": "broken", "KernelFile": %q, "ProblemSize": [4096], "GlobalSizeType": "CUDA",
		"LocalSize": {"X": "BLOCK"}, "GlobalSize": {"X": "ProblemSize[0]//BLOCK"}, "Arguments": [%s, %s, %s, %s, %s]}}`,
		kind, kind, blocks, language, file, buffer("a", "ReadOnly"), buffer("bb", "ReadOnly"), strings.Replace(buffer("out", "WriteOnly"), "Random", "Constant", 1),
		scalar("n", "ProblemSize[0]"), scalar("where", where))
	def, _, err := kernel.Parse("broken", []byte(text), files)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// The PTX of the broken kernels is made by clang, if WARPTUNE_UPDATE is set.
func TestBrokenPTX(t *testing.T) {
	if os.Getenv("WARPTUNE_UPDATE") == "" {
		t.Skip("WARPTUNE_UPDATE=1 makes the PTX of testdata/broken again, by clang")
	}
	c, err := compile.New(compile.Options{Compiler: "clang", CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	packed, err := zstd.NewWriter(&content, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewWriter(packed)
	for _, b := range brokenKinds {
		def := brokenDefinition(t, b.kind, b.blocks, "0", "CUDA")
		space, err := def.Space(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, cfg := range space.All() {
			launch, err := def.Launch(cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			ptx, err := c.Compile(context.Background(), compile.Request{Compile: launch.Compile, Target: "sm_80"})
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("k%d_%s.ptx", b.kind, cfg.Values[1].Text())
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(ptx.PTX)), Format: tar.FormatUSTAR}); err != nil {
				t.Fatal(err)
			}
			if _, err := archive.Write(ptx.PTX); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(brokenArchive, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// No broken kernel is called clean where every CTA is executed. At the default depth each verdict says
// what was executed, and what shows in the first CTA or the last without values is found.
func TestBrokenKernelsAreNotCalledClean(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile.New(compile.Options{CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	found, seen := map[simengine.Depth]int{}, map[string]int{}
	n := 0
	for _, b := range brokenKinds {
		for _, place := range brokenPlaces {
			n++
			def := brokenDefinition(t, b.kind, b.blocks, place.cta, "PTX")
			space, err := def.Space(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			answers := NewAnswers()
			for _, depth := range []simengine.Depth{simengine.CheckAll, simengine.CheckSample} {
				missed, caught := 0, 0
				for _, cfg := range space.All() {
					out, _, err := New(c).Evaluate(t.Context(), Job{Kernel: def, Config: cfg, Arch: d, Level: simengine.Model, Check: depth, Answers: answers})
					if err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("kind %d in the %s CTA, %v, --check %v", b.kind, place.name, cfg, depth)
					t.Logf("%s: %v %s %+v", name, out.Validity, out.Message, out.Checked)
					broken := b.bad == "" || cfg.Values[1].Text() == b.bad
					must := depth == simengine.CheckAll || place.name != "middle" && (b.sliced || cfg.Equal(space.At(0)))
					if broken && out.Validity != tuner.Correct {
						caught = 1
					}
					switch {
					case !broken && out.Validity != tuner.Correct:
						t.Errorf("%s is right, and called %v: %s", name, out.Validity, out.Message)
					case broken && out.Validity == tuner.Correct:
						if missed++; must {
							t.Errorf("%s is called clean", name)
						} else if out.Checked.CTAs == out.Checked.Of || out.Checked.CTAs == 0 {
							t.Errorf("%s: %d of %d CTAs are said to be executed", name, out.Checked.CTAs, out.Checked.Of)
						}
					case broken && (out.Validity != b.validity || !strings.Contains(out.Message, b.says)):
						t.Errorf("%s: %v: %s, want %v that says %q", name, out.Validity, out.Message, b.validity, b.says)
					}
				}
				if missed == 0 {
					found[depth]++
				}
				if depth == simengine.CheckSample {
					seen[place.name] += caught
				}
			}
		}
	}
	t.Logf("a sample finds in some configuration, of %d each, by the CTA that is broken: %v", len(brokenKinds), seen)
	t.Logf("of %d broken kernels %d are found in every broken configuration by executing every CTA, %d by a sample", n, found[simengine.CheckAll], found[simengine.CheckSample])
}

// With --faults warn what an author may live with is reported, and the configuration is predicted; what destroys
// something is not.
func TestWarnedOf(t *testing.T) {
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile.New(compile.Options{CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range brokenKinds {
		warned := b.kind == 2 || b.kind == 3 || b.kind == 5 || b.kind == 6 || b.kind == 9 || b.kind == 10
		if b.bad != "" {
			continue
		}
		def := brokenDefinition(t, b.kind, b.blocks, "0", "PTX")
		for _, depth := range []simengine.Depth{simengine.CheckSample, simengine.CheckAll} {
			out, _, err := New(c).Evaluate(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model, Check: depth, Warn: true, Answers: NewAnswers()})
			if err != nil {
				t.Fatal(err)
			}
			if warned != (out.Validity == tuner.Correct) || warned != (out.Checked.Warnings != "") {
				t.Errorf("kind %d, --check %v: %v %s; warnings: %s", b.kind, depth, out.Validity, out.Message, out.Checked.Warnings)
			}
		}
	}
}
