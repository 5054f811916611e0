package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

func withOptions(list, rest string) string {
	return strings.Replace(foreign, `"SharedMemoryOriginal": 4`, `"CompilerOptions": [`+list+`]`+rest, 1)
}

// Options that are not accepted are refused when the definition is read, by the
// entry; those of languages that are not simulated are not looked at.
func TestRefusedOptions(t *testing.T) {
	for list, want := range map[string]string{
		`"-w", "-I/etc"`:  `KernelSpecification.CompilerOptions[1]: compiler option "-I/etc" is not accepted: headers are`,
		`"-G"`:            `KernelSpecification.CompilerOptions[0]: compiler option "-G" is not accepted: debug code`,
		`"-Xptxas", "-z"`: `KernelSpecification.CompilerOptions[0]: compiler option "-Xptxas -z" is not accepted: it is for ptxas`,
		`3`:               `KernelSpecification.CompilerOptions[0]: a text is expected, not the number 3`,
	} {
		_, _, err := Parse("x", []byte(withOptions(list, "")), call.Memory{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", list, err)
		}
	}
	text := strings.Replace(withOptions(`"-cl-fast-relaxed-math"`, ""), `"CUDA"`, `"OpenCL"`, 1)
	if _, _, err := Parse("x", []byte(text), call.Memory{}); err != nil {
		t.Error(err)
	}
}

// Macros of the options are macros of every launch, beside the parameters, which
// win, and a register cap among them is MaxRegisters.
func TestOptionsOfALaunch(t *testing.T) {
	source := call.Memory{"k.cu": []byte("N half A")}
	d, warnings, err := Parse("x", []byte(withOptions(`"", "-std=c++14", "-D A=ONE", "-DN=5", "-DBLOCK=7", "-Dgrid_size_x=1", "-maxrregcount=40", "-arch=sm_70"`, "")), source)
	if err != nil {
		t.Fatal(err)
	}
	l := launch(t, d, nil, "BLOCK=128")
	if got := fmt.Sprint(l.Compile.Options, l.Compile.Macros, l.MaxRegisters); got != "[-std=c++14] [{kernel_tuner 1} {block_size_x 128} {block_size_y 1} {block_size_z 1} {A ONE} {N 5} {half 0.5} {BLOCK 128} {ONE 1}] 40" {
		t.Error(got)
	}
	wantWarnings(t, warnings,
		"KernelSpecification.CompilerOptions: -DBLOCK: ignored, the tuning parameter of that name wins",
		"KernelSpecification.CompilerOptions: -Dgrid_size_x: ignored, grid_size_x is the launch's own",
		"KernelSpecification.CompilerOptions: -maxrregcount=40: read as MaxRegisters",
		"KernelSpecification.CompilerOptions[7]: -arch=sm_70: left out: --arch says what is compiled for",
	)
	d, warnings, err = Parse("x", []byte(withOptions(`"-maxrregcount=40"`, `, "MaxRegisters": "ONE"`)), source)
	if err != nil || launch(t, d, nil, "BLOCK=128").MaxRegisters != 1 || !strings.Contains(warned(warnings), "-maxrregcount=40: ignored") {
		t.Errorf("%v\n%s", err, warned(warnings))
	}
	// A parameter that the cap alone uses costs compilations where a macro names it.
	if l := launch(t, d, nil, "BLOCK=128"); strings.Contains(fmt.Sprint(l.Compile.Macros), "ONE") {
		t.Errorf("macros %v", l.Compile.Macros)
	}
	d, _, err = Parse("x", []byte(withOptions(`"-DA=ONE"`, `, "MaxRegisters": "ONE"`)), source)
	if err != nil || !strings.Contains(fmt.Sprint(launch(t, d, nil, "BLOCK=128").Compile.Macros), "{ONE 1}") {
		t.Error(err)
	}
}
