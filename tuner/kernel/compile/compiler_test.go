package compile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/catalogue"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
)

// TestMain lets the test binary, under the name nvcc, stand in for CUDA's compiler:
// it answers as nvcc 13.0 does and writes its command line as the PTX's comment.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "nvcc" {
		os.Exit(fakeNVCC(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func fakeNVCC(args []string) int {
	switch {
	case slices.Contains(args, "--version"):
		fmt.Println("Cuda compilation tools, release 13.0, V13.0.88")
	case slices.Contains(args, "--list-gpu-arch"):
		fmt.Println("compute_75\ncompute_80\ncompute_86\ncompute_90\ncompute_100\ncompute_120")
	default:
		src, err := os.ReadFile(args[len(args)-1])
		macros, merr := os.ReadFile("../macros.h")
		if strings.Contains(string(src), "#pragma leak") {
			fmt.Println("In file included from ./k.cu:1:\n/etc/hostname(1): error: identifier \"secret\" is undefined")
			return 2
		}
		if err != nil || merr != nil || strings.Contains(string(src), "#error") {
			fmt.Println("./k.cu(1): error: #error directive")
			return 2
		}
		out := args[slices.Index(args, "-o")+1]
		ptx := "// " + strings.Join(args, " ") + "\n// " + string(macros)
		if err := os.WriteFile(out, []byte(ptx), 0o600); err != nil {
			return 1
		}
	}
	return 0
}

// withNVCC puts the stand-in, and nothing else, in PATH.
func withNVCC(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "nvcc")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", dir)
}

// hostlibsPlace is where a compilation has the headers of libraries of the host.
var hostlibsPlace = regexp.MustCompile(`idirafter,\S*hostlibs`)

func TestNVCC(t *testing.T) {
	withNVCC(t)
	n := NewNVCC("", sandbox.ProbeLimits)
	r := tile(t, "$(touch x)")
	r.Options = []string{"--use_fast_math", "-std=c++20"}
	res, err := n.Compile(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	ptx := hostlibsPlace.ReplaceAllString(string(res.PTX), "idirafter,hostlibs")
	want := "// -Xcompiler -idirafter,hostlibs -ptx -x cu -arch=sm_80 -include ../macros.h -lineinfo --use_fast_math -std=c++20 -I . -o ../out.ptx ./k.cu\n// #define TILE $(touch x)\n"
	if ptx != want || res.Compiler != "nvcc 13.0.88" || res.Target != "sm_80" {
		t.Errorf("got %q by %s for %s", res.PTX, res.Compiler, res.Target)
	}
	for target, arch := range map[string]string{"sm_35": "sm_75", "sm_89": "sm_86", "sm_110": "sm_100", "": "sm_120"} {
		r.Target = target
		if res, err := n.Compile(context.Background(), r); err != nil || res.Target != arch {
			t.Errorf("for %s: %s, %v; want %s", target, res.Target, err, arch)
		}
	}
	r.Source = []byte("#error\n")
	var e *Error
	if _, err := n.Compile(context.Background(), r); !errors.As(err, &e) || err.Error() != "nvcc 13.0.88: k.cu(1): error: #error directive" {
		t.Errorf("got %v", err)
	}
}

// What nvcc says of a file outside the bundle is not passed on.
func TestNVCCQuotesNoForeignFile(t *testing.T) {
	if _, err := os.Stat("/etc/hostname"); err != nil {
		t.Skip(err)
	}
	withNVCC(t)
	r := tile(t, "1")
	r.Source = []byte("#pragma leak\n")
	var e *Error
	_, err := NewNVCC("", sandbox.ProbeLimits).Compile(context.Background(), r)
	if !errors.As(err, &e) || e.Message != "error: the source includes /etc/hostname, which is outside the bundle" {
		t.Errorf("got %v", err)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := Of(Given{}, Prebuilt{}, &NVCC{programs: []string{"nvcc"}}, NewClang("", sandbox.DefaultLimits()))
	_, err := c.Compile(context.Background(), tile(t, "8"))
	var u *UnavailableError
	if !errors.As(err, &u) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"k.cu", "not the source of a built-in kernel", "nvcc not found", "no clang++ in PATH", "install clang (apt-get install clang-19"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestChoice(t *testing.T) {
	for choice, want := range map[string]string{
		"": "given prebuilt nvcc clang", "prebuilt": "given prebuilt", "nvcc": "given nvcc", "clang": "given clang",
		"clang-16": "given clang", "/opt/bin/clang++": "given clang", "gcc": "",
	} {
		c, err := New(Options{Compiler: choice, CacheDir: "-"})
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", choice, err)
			continue
		}
		if err != nil {
			continue
		}
		var names []string
		for _, d := range c.drivers {
			names = append(names, d.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q uses %s, want %s", choice, got, want)
		}
	}
}

func TestGiven(t *testing.T) {
	for _, tt := range []struct{ ptx, compiler, target string }{
		{"// Cuda compilation tools, release 13.0, V13.0.88\n.version 9.0\n.target sm_90\n", "given PTX (nvvm 13.0)", "sm_90"},
		{"// Generated by LLVM NVPTX Back-End\n.version 8.5\n.target sm_80, debug\n", "given PTX (llvm)", "sm_80"},
		{"nonsense", "given PTX", ""},
	} {
		r := Request{Compile: call.Compile{Language: call.PTX, SourceFile: "a.ptx", Source: []byte(tt.ptx)}}
		res, err := Of(Given{}, NewClang("", sandbox.DefaultLimits())).Compile(context.Background(), r)
		if err != nil || string(res.PTX) != tt.ptx || res.Compiler != tt.compiler || res.Target != tt.target {
			t.Errorf("%q: %+v, %v", tt.ptx, res, err)
		}
	}
	var e *Error
	if _, err := (Given{}).Compile(context.Background(), Request{Compile: call.Compile{Language: call.PTX, Source: []byte(" \n")}}); !errors.As(err, &e) {
		t.Errorf("an empty file: %v", err)
	}
}

// A copy of a built-in kernel under another name is answered from the catalogue;
// a changed one, a changed option or a value that is not prebuilt is not.
func TestPrebuilt(t *testing.T) {
	k, err := catalogue.Open("copy")
	if err != nil {
		t.Fatal(err)
	}
	base := func() Request {
		return request(t, "mine/c.cu", fstest.MapFS{"mine/c.cu": {Data: k.Source()}},
			call.Macro{Name: "BLOCK_SIZE", Value: "64"}, call.Macro{Name: "ITEMS", Value: "2"}, call.Macro{Name: "kernel_tuner", Value: "1"})
	}
	res, err := Prebuilt{}.Compile(context.Background(), base())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(res.Compiler, " (prebuilt)") || res.Target != targetOf(res.PTX) || res.Digest != digest(res.PTX) || !strings.Contains(string(res.PTX), ".entry copy(") {
		t.Errorf("got %s for %s, digest %s", res.Compiler, res.Target, res.Digest)
	}
	for name, change := range map[string]func(*Request){
		"edited":  func(r *Request) { r.Source = append(r.Source, "\n"...) },
		"option":  func(r *Request) { r.Options = []string{"-w"} },
		"variant": func(r *Request) { r.Macros[1].Value = "3" },
	} {
		r := base()
		change(&r)
		var u *UnavailableError
		if res, err := (Prebuilt{}).Compile(context.Background(), r); !errors.As(err, &u) {
			t.Errorf("%s: %+v, %v; want unavailable", name, res.Compiler, err)
		}
	}
}
