package compile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/compile/toolkit"
)

// needPTXAS skips where there is none.
func needPTXAS(t *testing.T, dir string) *PTXAS {
	t.Helper()
	p := NewPTXAS("", dir, sandbox.DefaultLimits())
	if _, err := p.Identify(t.Context(), ""); err != nil {
		t.Skip(err)
	}
	return p
}

// TestReadPTXAS reads what versions print.
func TestReadPTXAS(t *testing.T) {
	const said = `ptxas info    : 4 bytes gmem, 64 bytes cmem[3]
ptxas info    : Compiling entry function '_Z1kPf' for 'sm_90'
ptxas info    : Function properties for _Z1kPf
    120 bytes stack frame, 84 bytes spill stores, 96 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 120 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compile time = 93.980 ms
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'other' for 'sm_90'
ptxas info    : Function properties for other
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, 1024+16 bytes smem, 380 bytes cmem[0]
`
	want := map[string]Resources{
		"_Z1kPf": {Registers: 24, Frame: 120, SpillStores: 84, SpillLoads: 96, Shared: 4096},
		"other":  {Registers: 10, Shared: 1040},
	}
	got, err := readPTXAS(said)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if got["_Z1kPf"].SpillBytes() != 84 || (Resources{Frame: 8, SpillStores: 20}).SpillBytes() != 8 {
		t.Errorf("spill bytes of %+v", got["_Z1kPf"])
	}
	if _, err := readPTXAS(strings.Replace(said, "Used 10 registers", "Used registers", 1)); err == nil {
		t.Error("a kernel without registers is no error")
	}
}

// twoKernels has place for loads and stores.
const twoKernels = `.version 7.0
.target sm_80
.address_size 64
.visible .entry small(.param .u64 p) {
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 s[400];
  ld.param.u64 %rd1, [p];
  st.global.u64 [%rd1], %rd1;
  mov.u64 %rd2, s;
  st.global.u64 [%rd1+8], %rd2;
  ret;
}
.visible .entry many(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .f32 %f<65>;
  ld.param.u64 %rd1, [p];
LOADS STORES  ret;
}
`

// manyRegisters is PTX whose second kernel needs some 64 registers at once.
func manyRegisters() []byte {
	var loads, stores strings.Builder
	for i := range 64 {
		fmt.Fprintf(&loads, "  ld.volatile.global.f32 %%f%d, [%%rd1+%d];\n", i, 8*i)
		fmt.Fprintf(&stores, "  st.volatile.global.f32 [%%rd1+%d], %%f%d;\n", 8*i+4, i)
	}
	return []byte(strings.NewReplacer("LOADS ", loads.String(), "STORES ", stores.String()).Replace(twoKernels))
}

// TestPTXAS asks the real one: a cap is kept to by spilling, and what was said is remembered as it was.
func TestPTXAS(t *testing.T) {
	dir := t.TempDir()
	p := needPTXAS(t, dir)
	ptx := manyRegisters()
	free, err := p.Assemble(t.Context(), ptx, "sm_90", 0)
	if err != nil {
		t.Fatal(err)
	}
	capped, err := p.Assemble(t.Context(), ptx, "sm_90", 32)
	if err != nil {
		t.Fatal(err)
	}
	if r := free["small"]; r.Registers == 0 || r.Registers > 32 || r.Shared != 400 {
		t.Errorf("small: %+v", r)
	}
	if a, b := free["many"], capped["many"]; a.Registers < 64 || a.SpillBytes() != 0 || b.Registers > 32 || b.SpillBytes() == 0 {
		t.Errorf("many: %+v, with a cap %+v", a, b)
	}
	// Another one that cannot run it knows it from disk.
	deaf := NewPTXAS("", dir, sandbox.DefaultLimits())
	if _, err := deaf.Identify(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	for _, f := range deaf.found {
		f.program = "/nowhere/ptxas"
	}
	again, err := deaf.Assemble(t.Context(), ptx, "sm_90", 32)
	if err != nil || !reflect.DeepEqual(again, capped) {
		t.Errorf("remembered %+v, %v; want %+v", again, err, capped)
	}
	// What is damaged is asked again.
	names, _ := filepath.Glob(filepath.Join(dir, "*", "*.ptxas"))
	if len(names) != 2 {
		t.Fatalf("files %q", names)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(b), `"registers":`, `"registers":1`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fresh := NewPTXAS("", dir, sandbox.DefaultLimits())
	if again, err = fresh.Assemble(t.Context(), ptx, "sm_90", 32); err != nil || !reflect.DeepEqual(again, capped) {
		t.Errorf("after damage %+v, %v; want %+v", again, err, capped)
	}
}

// TestPTXASRefuses: the PTX's faults are errors of it, and what this ptxas does not know is no fault of it.
func TestPTXASRefuses(t *testing.T) {
	p := needPTXAS(t, "")
	var own *Error
	if _, err := p.Assemble(t.Context(), []byte(strings.Replace(string(manyRegisters()), "  ret;", "  rett;", 1)), "sm_90", 0); !errors.As(err, &own) || !strings.Contains(own.Error(), "rett") {
		t.Errorf("an unknown instruction: %v", err)
	}
	var lacks *UnavailableError
	if _, err := p.Assemble(t.Context(), []byte(strings.Replace(string(manyRegisters()), ".version 7.0", ".version 99.0", 1)), "sm_90", 0); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "older than the PTX") {
		t.Errorf("PTX of the future: %v", err)
	}
	if _, err := p.Assemble(t.Context(), manyRegisters(), "sm_20", 0); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "sm_20") {
		t.Errorf("an architecture of the past: %v", err)
	}
	if _, err := NewPTXAS(filepath.Join(t.TempDir(), "ptxas"), "", sandbox.DefaultLimits()).Assemble(t.Context(), manyRegisters(), "sm_90", 0); !errors.As(err, &lacks) || !strings.Contains(err.Error(), toolkit.NVCCInstall) {
		t.Errorf("no ptxas: %v", err)
	}
}

// TestAssembledFor: specific features are asked for where the PTX has them, and only for its own target.
func TestAssembledFor(t *testing.T) {
	for _, c := range [][3]string{
		{".target sm_90a\n", "sm_90", "sm_90a"}, {".target sm_90a, debug\n", "sm_90", "sm_90a"}, {".target sm_90\n", "sm_90", "sm_90"},
		{".target sm_80\n", "sm_90", "sm_90"}, {".target sm_90a\n", "sm_100", "sm_100"}, {"// .target sm_90a\n", "sm_90", "sm_90"}, {"", "sm_90", "sm_90"},
	} {
		if got := assembledFor([]byte(c[0]), c[1]); got != c[2] {
			t.Errorf("%q for %s: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestChoiceOfPTXAS: the choice's end is not the compiler's name.
func TestChoiceOfPTXAS(t *testing.T) {
	for choice, with := range map[string]bool{"": false, "nvcc": false, "+ptxas": true, "clang+ptxas": true, "clang++-19+ptxas": true} {
		c, err := New(Options{Compiler: choice, CacheDir: "-"})
		if err != nil || (c.Assembler() != nil) != with {
			t.Errorf("%q: %v, %v", choice, c, err)
		}
		if err := CheckChoice(choice); err != nil {
			t.Error(err)
		}
	}
	for _, choice := range []string{"ptxas", "+ptxas+ptxas", "/bin/sh+ptxas"} {
		if CheckChoice(choice) == nil {
			t.Errorf("%q may be chosen for others", choice)
		}
	}
}

// TestPTXASOfTheArchitecture: of several, the first that knows an architecture serves it.
func TestPTXASOfTheArchitecture(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs that are shell scripts")
	}
	p := NewPTXAS("", "", sandbox.DefaultLimits())
	p.programs = nil
	for _, v := range [][2]string{{"13.0.1", "sm_75 sm_90"}, {"12.9.1", "sm_70 sm_75"}} {
		path := filepath.Join(t.TempDir(), "ptxas")
		script := "#!/bin/sh\ncase $1 in --version) echo 'release 1.0, V" + v[0] + "';; --help) for a in " + v[1] + "; do echo \"'$a',\"; done;; esac\n"
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		p.programs = append(p.programs, path)
	}
	for target, want := range map[string]string{"": "ptxas 13.0.1", "sm_75": "ptxas 13.0.1", "sm_90": "ptxas 13.0.1", "sm_70": "ptxas 12.9.1"} {
		if got, err := p.Identify(t.Context(), target); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", target, got, err, want)
		}
	}
	var lacks *UnavailableError
	if _, err := p.Identify(t.Context(), "sm_7"); !errors.As(err, &lacks) || !strings.Contains(err.Error(), "ptxas 13.0.1: it does not know sm_7;") {
		t.Error(err)
	}
}
