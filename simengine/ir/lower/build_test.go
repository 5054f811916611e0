package lower_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/ir/irtest"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ir/slice"
	"github.com/warptune/warptune/simengine/ptx"
	"github.com/warptune/warptune/simengine/ptxtest"
)

// build, kernel, golden and header are short for what ptxtest has.
var (
	build  = ptxtest.Module
	kernel = ptxtest.Kernel
	golden = ptxtest.Golden
)

const header = ptxtest.Header

// shared is the folder of measurements beside the repository.
const shared = "../../../../shared/silicon/h200/"

// silicon calls f for every PTX file that ran on hardware.
func silicon(t testing.TB, f func(stem string, src []byte)) { ptxtest.Silicon(t, "../../..", f) }

// measured is what the assembler said of one compile variant.
type measured struct {
	PTX         string `json:"ptx"`
	StaticSmem  int    `json:"static_smem"`
	DynamicSmem int    `json:"dynamic_smem"`
	Registers   int
}

func readMeasured(t testing.TB) map[string]measured {
	all := map[string]measured{}
	for _, name := range []string{"timings.jsonl.gz", "timings-clang.jsonl.gz"} {
		if _, err := os.Stat(shared + name); err != nil {
			t.Skipf("no measurements beside the repository: %v", err)
		}
		records, err := results.Read[measured](shared + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range records {
			all[m.PTX] = m
		}
	}
	return all
}

// Every kernel that ran on hardware builds, holds the invariants, reads no
// register before it is written, and needs the shared memory the assembler
// reported.
func TestBuildSilicon(t *testing.T) {
	facts := readMeasured(t)
	checked := 0
	silicon(t, func(stem string, src []byte) {
		k, err := build(t, stem, string(src)).Kernel("")
		if err != nil {
			t.Fatal(err)
		}
		// clang packs registers it never writes for lanes it does not use.
		written := ir.NewBitSet(len(k.Regs))
		for pc := range k.Instrs {
			for _, r := range k.Instrs[pc].AppendDefs(nil) {
				written.Add(r)
			}
		}
		k.Liveness().In[0].Each(func(r ir.Reg) {
			if written.Has(r) {
				t.Errorf("%s: register %s is live at the entry", stem, k.Regs[r].Name)
			}
		})
		f, ok := facts[stem]
		if !ok {
			return
		}
		checked++
		if k.SharedBytes != f.StaticSmem || (k.DynamicShared >= 0) != (f.DynamicSmem > 0) {
			t.Errorf("%s: %d bytes of static shared memory, the assembler said %d", stem, k.SharedBytes, f.StaticSmem)
		}
	})
	if checked < 1000 {
		t.Errorf("only %d files have measurements", checked)
	}
}

// What clang emits without and with optimisation: depots, generic accesses,
// calls with struct parameters, indexed branches, packed halves.
func TestBuildClang(t *testing.T) {
	for _, name := range []string{"testdata/clang-O0.ptx.gz", "testdata/clang-O3.ptx.gz"} {
		src, err := results.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		m := build(t, name, string(src))
		if len(m.Kernels) != 10 {
			t.Errorf("%s: %d kernels, want 10", name, len(m.Kernels))
		}
		for _, k := range m.Kernels {
			for pc := range k.Instrs {
				if in := &k.Instrs[pc]; in.Space == ir.ParamSpace && in.Src[0].Reg == ir.NoReg && in.Src[0].Param < 0 {
					t.Errorf("%s: %s is left of a call", k.Name, k.Text(pc))
				}
			}
		}
		if _, err := m.Kernel("tmpl"); err == nil || !strings.Contains(err.Error(), "ambiguous") {
			t.Errorf("two instances of one template: %v", err)
		}
		k, err := m.Kernel("bounds")
		if err != nil || k.MaxNTid != [3]int{128, 1, 1} || k.MinCTAs != 3 {
			t.Errorf("bounds: %v, .maxntid %v, .minnctapersm %d", err, k.MaxNTid, k.MinCTAs)
		}
	}
}

// A kernel is picked by its name, by the name before a C++ compiler mangled it,
// or by being the only one.
func TestPickKernel(t *testing.T) {
	m := build(t, "two.ptx", header+".entry _Z4copyPfS_() { ret; } .entry _Z8copyfastPf() { ret; }")
	for name, want := range map[string]string{"copy": "_Z4copyPfS_", "copyfast": "_Z8copyfastPf", "_Z4copyPfS_": "_Z4copyPfS_"} {
		if k, err := m.Kernel(name); err != nil || k.Name != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{"": "several kernels, name one of _Z4copyPfS_, _Z8copyfastPf", "cop": `no kernel "cop"`} {
		if _, err := m.Kernel(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	if _, err := build(t, "none.ptx", header).Kernel(""); err == nil || !strings.Contains(err.Error(), "no kernel (.entry)") {
		t.Errorf("no kernels: %v", err)
	}
}

// A kernel that uses what is not modelled is refused by name and position, and
// the others of its module are not.
func TestUnmodelled(t *testing.T) {
	src, err := os.ReadFile("testdata/unmodelled.ptx")
	if err != nil {
		t.Fatal(err)
	}
	m := build(t, "unmodelled.ptx", string(src))
	if _, err := m.Kernel("fine"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"rec":  "unmodelled.ptx:48:2: kernel rec uses a recursive call of _Z4facti, which the simulator does not model",
		"ind":  "unmodelled.ptx:257:17: kernel ind uses the address of function _Z2f1i, which the simulator does not model",
		"ext":  "unmodelled.ptx:320:2: kernel ext uses a call of the external function external, which the simulator does not model",
		"asms": "unmodelled.ptx:343:2: kernel asms uses tcgen05.fence::before_thread_sync, which the simulator does not model",
	} {
		_, err := m.Kernel(name)
		var u *ir.UnsupportedError
		if !errors.As(err, &u) || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, err = m.Kernel("nothing")
	if want := `no kernel "nothing", the module has asms, ext, fine, ind, rec`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestDiagnostics checks testdata/errors: // ERROR "regexp" says what is
// reported on its line, and nothing else is.
func TestDiagnostics(t *testing.T) {
	names, _ := filepath.Glob("testdata/errors/*.ptx")
	if len(names) == 0 {
		t.Fatal("testdata/errors is empty")
	}
	annotation := regexp.MustCompile(`// ERROR "(.*)"\s*$`)
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]string{}
		for i, line := range strings.Split(string(src), "\n") {
			if m := annotation.FindStringSubmatch(line); m != nil {
				want[i+1] = m[1]
			}
		}
		m, err := ptx.Parse(name, src)
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = lower.Build(m)
		list, _ := err.(ptx.ErrorList)
		for _, e := range list {
			if re, ok := want[e.Pos.Line]; !ok || !regexp.MustCompile(re).MatchString(e.Msg) {
				t.Errorf("%v: want %q", e, re)
			}
			delete(want, e.Pos.Line)
		}
		for line, re := range want {
			t.Errorf("%s:%d: no diagnostic matches %s", name, line, re)
		}
	}
}

// Names carry no meaning: with registers, labels, parameters and variables
// renamed the kernel is the same instruction by instruction.
func TestRenaming(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	check := func(name string, src []byte) {
		before := build(t, name, string(src))
		after := build(t, name, rename(rng, string(src)))
		for i, k := range before.Kernels {
			if a, b := nameless(k), nameless(after.Kernels[i]); a != b {
				t.Errorf("%s: renaming changed kernel %s:\n%s\nto\n%s", name, k.Name, a, b)
			}
		}
	}
	for _, name := range []string{"testdata/clang-O0.ptx.gz", "testdata/clang-O3.ptx.gz"} {
		src, err := results.Content(name)
		if err != nil {
			t.Fatal(err)
		}
		check(name, src)
	}
	i := 0
	silicon(t, func(stem string, src []byte) {
		if i++; i%50 == 0 {
			check(stem, src)
		}
	})
}

var (
	registerName = regexp.MustCompile(`%(p|rs|rd|r|fd|f|SPL?|h|hh)(\d*)\b`)
	rangeName    = regexp.MustCompile(`%(p|rs|rd|r|fd|f|h|hh)<`)
	otherName    = regexp.MustCompile(`\$L_\w+|\b__local_depot\d+|\w+_param_\d+|\bparam\d+|\bretval\d+`)
)

// rename gives every register class a new prefix and every other name a new
// spelling.
func rename(rng *rand.Rand, src string) string {
	fresh := map[string]string{}
	name := func(old string) string {
		n, ok := fresh[old]
		if !ok {
			n = "z" + string(rune('a'+rng.IntN(26))) + strings.Repeat("_", 1+len(fresh))
			fresh[old] = n
		}
		return n
	}
	src = rangeName.ReplaceAllStringFunc(src, func(s string) string { return "%" + name(s[:len(s)-1]) + "<" })
	src = registerName.ReplaceAllStringFunc(src, func(s string) string {
		m := registerName.FindStringSubmatch(s)
		return "%" + name("%"+m[1]) + m[2]
	})
	return otherName.ReplaceAllStringFunc(src, func(s string) string { return "$" + name(s) })
}

// nameless is the kernel's text with numbers for names.
func nameless(k *ir.Kernel) string {
	var b strings.Builder
	for i := range k.Blocks {
		for pc := k.Blocks[i].Start; pc < k.Blocks[i].End; pc++ {
			b.WriteString(k.Instrs[pc].String())
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// FuzzBuild: whatever parses either builds to a kernel that holds the
// invariants or is refused.
func FuzzBuild(f *testing.F) {
	for _, pattern := range []string{"testdata/*.ptx", "testdata/errors/*.ptx", "../ptx/testdata/ok/*.ptx"} {
		names, _ := filepath.Glob(pattern)
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil && len(b) < 16<<10 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ptx.Parse("fuzz", src)
		if err != nil {
			return
		}
		out, err := lower.Build(m)
		if err != nil {
			return
		}
		for _, k := range out.Kernels {
			if err := irtest.Verify(k); err != nil {
				t.Fatal(err)
			}
			_ = k.String()
			slice.Addresses(k)
			k.MaxLive()
		}
	})
}

func BenchmarkBuild(b *testing.B) {
	var largest *ptx.Module
	size := 0
	silicon(b, func(stem string, src []byte) {
		if len(src) > size {
			size = len(src)
			largest, _ = ptx.Parse(stem, src)
		}
	})
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := lower.Build(largest); err != nil {
			b.Fatal(err)
		}
	}
}

// A template is named as the source may: the message says how it becomes a kernel.
func TestTemplateKernelName(t *testing.T) {
	const src = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry _Z1kIfLi4EEvv() { ret; }\n"
	m := build(t, "k.ptx", src)
	for _, name := range []string{"k", "k<float, 4>", "_Z1kIfLi4EEvv", ""} {
		if _, err := m.Kernel(name); err != nil {
			t.Error(err)
		}
	}
	_, err := m.Kernel("k<float,8>")
	if err == nil || !strings.Contains(err.Error(), `"template __global__ void k<float,8>(…);", and is named "k"`) || !strings.Contains(err.Error(), "the module has _Z1kIfLi4EEvv") {
		t.Error(err)
	}
}
