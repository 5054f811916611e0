package evaluate

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/compile"
)

// An answer that was checked in another way is not the answer: Answer, Tolerance and the contents of
// Expected are part of what identifies it.
func TestCheckingIdentifiesAnswers(t *testing.T) {
	ptx, err := brokenFiles(t).ReadFile("k8_64.ptx")
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{"k.ptx": {Data: ptx}, "one.raw": {Data: make([]byte, 16)}, "two.raw": {Data: append(make([]byte, 15), 1)}}
	d, err := arch.Load("h100")
	if err != nil {
		t.Fatal(err)
	}
	c, err := compile.New(compile.Options{CacheDir: "-"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, how := range []string{"", `, "Answer": "none"`, `, "Tolerance": 1e-3`, `, "Tolerance": 1e-2`, `, "Expected": "one.raw"`, `, "Expected": "two.raw"`} {
		def, _, err := kernel.Parse("k", fmt.Appendf(nil, `{"ConfigurationSpace": {"TuningParameters": [{"Name": "B", "Type": "int", "Values": "[64]"}]},
			"KernelSpecification": {"Language": "PTX", "KernelName": "broken", "KernelFile": "k.ptx", "LocalSize": {"X": "B"}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": 1},
			"Arguments": [{"Name": "a", "Type": "float", "Size": 64%s}]}}`, how), files)
		if err != nil {
			t.Fatal(err)
		}
		digest, ok := New(c).Digest(t.Context(), Job{Kernel: def, Config: def.Default(), Arch: d, Level: simengine.Model, Answers: NewAnswers()})
		if other, twice := seen[digest]; !ok || twice {
			t.Errorf("%q: the digest of %q (%v)", how, other, ok)
		}
		seen[digest] = how
	}
}
