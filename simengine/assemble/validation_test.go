package assemble

import (
	"archive/zip"
	"io"
	"path/filepath"
	"testing"
)

// Every eighth PTX of the validation sets is assembled with every pass verified, for
// each generation.
func TestValidationKernelsVerify(t *testing.T) {
	verifying = true
	defer func() { verifying = false }()
	files, err := filepath.Glob("../../deploy/calibrate/validation/*/ptx.zip")
	if err != nil || len(files) == 0 {
		t.Fatalf("no validation sets: %v", err)
	}
	for _, name := range files {
		z, err := zip.OpenReader(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := 0; k < len(z.File); k += 8 {
			verifyFile(t, z.File[k], k/8)
		}
		z.Close()
	}
}

// verifyFile assembles the k-th file for Hopper, and with a cap for one of the others.
func verifyFile(t *testing.T, f *zip.File, k int) {
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	src, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	kernel := buildKernel(t, f.Name, src)
	others := [][2]int{{3, 5}, {5, 2}, {7, 0}, {7, 5}, {8, 0}, {8, 6}, {12, 0}}
	for _, opt := range []Options{hopper, {CC: others[k%len(others)], MaxRegisters: 40}} {
		if _, err := Assemble(kernel, opt); err != nil {
			t.Errorf("%s for %v: %v", f.Name, opt.CC, err)
		}
	}
}
