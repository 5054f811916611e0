// Package standin is a driver for tests of measuring where there is no GPU: libraries
// in C that stand in for NVIDIA's, compiled when a test installs them. Only tests use it.
package standin

import (
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// The sources: cuda.c says what each kernel does, by its name. They are texts to the Go tool,
// which would want cgo for files that end in .c.
//
//go:embed cuda.c.txt nvml.c.txt
var sources embed.FS

// userCache is where the Go tool caches what it builds: before a TestMain names another folder.
var userCache, _ = os.UserCacheDir()

// made is the measurer's folder, of the whole run of a test binary; "": there is none.
var made string

// Clean removes what Install made for all tests. A TestMain calls it last.
func Clean() {
	if made != "" {
		_ = os.RemoveAll(made)
	}
}

// measurer builds the measurer, once.
var measurer = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "warptune-measurer-")
	if err != nil {
		return "", err
	}
	made = dir
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "measurer"), "github.com/warptune/warptune/cmd/measurer")
	if build.Env = os.Environ(); os.Getenv("GOCACHE") == "" && userCache != "" {
		build.Env = append(build.Env, "GOCACHE="+filepath.Join(userCache, "go-build"))
	}
	out, err := build.CombinedOutput()
	if err != nil {
		return "", &buildError{err, out}
	}
	return dir, nil
})

type buildError struct {
	error
	said []byte
}

func (e *buildError) Error() string { return e.error.Error() + ": " + string(e.said) }

// GPU and Arch are the name of the GPU that stands in, and the architecture that it is.
const (
	GPU  = "Stand-in"
	Arch = "a100-40gb"
)

// Install has the measurers that a test starts load the libraries that stand in, and puts the
// measurer into PATH. old is a driver from before clusters. Where there is no C compiler the test
// is skipped. STANDIN_REASONS, STANDIN_USER, STANDIN_INIT and STANDIN_UNMANAGED in the environment change what the
// libraries say: see the sources.
func Install(t *testing.T, old bool) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("measuring is done on Linux only")
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler (cc): the driver that stands in for NVIDIA's cannot be compiled")
	}
	program, err := measurer()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, lib := range []string{"cuda", "nvml"} {
		text, err := sources.ReadFile(lib + ".c.txt")
		if err != nil {
			t.Fatal(err)
		}
		source := filepath.Join(dir, lib+".c")
		if err := os.WriteFile(source, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-shared", "-fPIC", "-O1", "-w", "-o", filepath.Join(dir, lib+".so"), source}
		if old {
			args = append(args, "-DOLD")
		}
		if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %q: %v\n%s", cc, args, err, out)
		}
	}
	t.Setenv("WARPTUNE_LIBCUDA", filepath.Join(dir, "cuda.so"))
	t.Setenv("WARPTUNE_LIBNVML", filepath.Join(dir, "nvml.so"))
	t.Setenv("PATH", program+string(filepath.ListSeparator)+os.Getenv("PATH"))
}
