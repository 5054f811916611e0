package tune

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
	"github.com/warptune/warptune/tuner/kernel"
	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/ptxfiles"
)

// closerPlan is a kernel of which BLOCK=128 writes something else than BLOCK=64.
func closerPlan(t *testing.T, check string) *plan.Plan {
	t.Helper()
	dir := t.TempDir()
	files, done, err := ptxfiles.Open("../../../internal/evaluate/testdata/broken/ptx.tar.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	for _, block := range []string{"64", "128"} {
		text, err := fs.ReadFile(files, "k8_"+block+".ptx")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "k"+block+".ptx"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var args []string
	for _, name := range []string{"a", "bb", "out"} {
		args = append(args, fmt.Sprintf(`{"Name": %q, "Type": "float", "Size": 4096, "FillType": "Random", "FillValue": 1}`, name))
	}
	for _, s := range []string{`"n", "FillValue": 4096`, `"where", "FillValue": 0`} {
		args = append(args, `{"Type": "int32", "MemoryType": "Scalar", "Name": `+s+`}`)
	}
	def, _, err := kernel.Parse("closer", []byte(`{"ConfigurationSpace": {"TuningParameters": [{"Name": "BLOCK", "Type": "int", "Values": "[64, 128]"}]},
		"KernelSpecification": {"Language": "PTX", "KernelName": "broken", "KernelFile": "k{BLOCK}.ptx", "ProblemSize": [4096], "GlobalSizeType": "CUDA",
		"LocalSize": {"X": "BLOCK"}, "GlobalSize": {"X": "ProblemSize[0]//BLOCK"}, "Arguments": [`+strings.Join(args, ", ")+`]}}`), call.Dir(dir))
	if err != nil {
		t.Fatal(err)
	}
	arch, err := cluster.LoadArch("h100")
	if err != nil {
		t.Fatal(err)
	}
	return &plan.Plan{Specs: []*warptunev1.Spec{{Level: "model", Check: check}}, Of: []plan.Subject{{Def: def, Arch: arch}}}
}

// The best configuration is executed in full and compared though it was not its turn.
func TestBestIsLookedAtCloser(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	sliced := func() *warptunev1.Checked { return &warptunev1.Checked{Ctas: 4, Of: 32} }
	for _, tt := range []struct {
		block   int64
		check   string
		checked *warptunev1.Checked
		wrong   string // contained
		full    bool
	}{
		{64, "", sliced(), "", true},
		{128, "", sliced(), "gave wrong results: argument out, element", false},
		{128, "", &warptunev1.Checked{Ctas: 4, Full: 4, Of: 32}, "", true}, // its turn had come
		{128, "none", sliced(), "", false},
		{128, "", nil, "", false}, // of a version that did not check
	} {
		best := &warptunev1.Result{
			Config:  []*warptunev1.Value{{Kind: &warptunev1.Value_Integer{Integer: tt.block}}},
			Outcome: &warptunev1.Outcome{Compiler: "given PTX (llvm)", Checked: tt.checked},
		}
		wrong, err := lookCloser(t.Context(), new(cli.App), closerPlan(t, tt.check), 0, []string{"BLOCK"}, best)
		if err != nil || (tt.wrong == "") != (wrong == "") || !strings.Contains(wrong, tt.wrong) {
			t.Errorf("BLOCK=%d, check %q, %v: %q, %v, want %q", tt.block, tt.check, tt.checked, wrong, err, tt.wrong)
		}
		if full := best.GetOutcome().GetChecked().GetFull() > 0; full != tt.full {
			t.Errorf("BLOCK=%d, check %q: executed in full: %v", tt.block, tt.check, full)
		}
	}
}
