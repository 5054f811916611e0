package compile

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/compile/sandbox"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// named are kernels that are more than a name.
const named = `
namespace nested { namespace inner {
template <typename T, int N> __global__ void vadd(T *c) { c[threadIdx.x] = T(N); }
__global__ void plain(float *c) { c[threadIdx.x] = 1; }
}}
template <typename T> __global__ void vadd(T *c) { c[threadIdx.x] = T(2); }
static __global__ void fixed(float *c) { c[threadIdx.x] = 3; }
template <int N> static __global__ void fixed_t(float *c) { c[threadIdx.x] = N; }
namespace { __global__ void anon(float *c) { c[threadIdx.x] = 4; } }
__global__ void overloaded(float *c) { c[threadIdx.x] = 5; }
__global__ void overloaded(double *c) { c[threadIdx.x] = 5; }
struct pair { int a, b; };
extern "C" __global__ void c_name(float *c) { c[threadIdx.x] = 6; }
// the last line ends in a comment and has no end`

// TestKernelNamesAsNVRTC: a name expression is instantiated and found.
func TestKernelNamesAsNVRTC(t *testing.T) {
	needClang(t)
	for _, c := range []*Clang{NewClangAsNVCC(sandbox.DefaultLimits())} {
		for entry, want := range map[string]string{
			"vadd<float>": "_Z4vaddIfEvPT_", "vadd<unsigned char>": "_Z4vaddIhEvPT_", "vadd<pair *>": "_Z4vaddIP4pairEvPT_", "::vadd<int>": "_Z4vaddIiEvPT_",
			"nested::inner::plain": "_ZN6nested5inner5plainEPf", "nested::inner::vadd<float, TILE * 2>": "_ZN6nested5inner4vaddIfLi32EEEvPT_", "fixed_t<TILE>": "_ZL7fixed_tILi16EEvPf",
			"nested :: inner::vadd<int,(TILE>8)>": "_ZN6nested5inner4vaddIiLi1EEEvPT_", "nested::inner::vadd<int, (TILE > 8 ? 3 : 4)>": "_ZN6nested5inner4vaddIiLi3EEEvPT_", "::anon": "_ZN12_GLOBAL__N_14anonEPf",
			"c_name": "", "plain": "", "fixed": "", "": "",
		} {
			src := named
			if entry == "vadd<pair *>" {
				src = strings.Replace(named, "T(2)", "T(nullptr)", 1)
			}
			r := request(t, "k.cu", fstest.MapFS{"k.cu": text(src)}, call.Macro{Name: "TILE", Value: "16"})
			r.Entry, r.Fixed = entry, []string{"TILE"}
			res, err := c.Compile(t.Context(), r)
			if err != nil {
				t.Errorf("%s: %v", entry, err)
			} else if res.Entry != want || want != "" && !strings.Contains(string(res.PTX), ".entry "+want+"(") || strings.Contains(string(res.PTX), "warptune_entry") {
				t.Errorf("%s is %s, want %s:\n%s", entry, res.Entry, want, res.PTX)
			}
		}
		for entry, want := range map[string]string{
			"missing<float>":            "KernelName:1:",
			"vadd<nothing>":             "'nothing'",
			"nested::inner::vadd<int>":  "KernelName:1:",
			"::overloaded":              "KernelName:1:",
			"k); int x = (1":            "a kernel's name is expected",
			"k<1>)":                     "a parenthesis has no partner",
			"vadd<float??/>":            "a kernel's name is expected",
			"vadd<float>\n#include <x>": "a kernel's name is expected",
		} {
			r := request(t, "k.cu", fstest.MapFS{"k.cu": text(named)})
			r.Entry = entry
			var e *Error
			if _, err := c.Compile(t.Context(), r); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", entry, err, want)
			}
		}
	}
}

// TestCacheKnowsEntries: another name of a kernel in the same source is another compilation.
func TestCacheKnowsEntries(t *testing.T) {
	needClang(t)
	dir := t.TempDir()
	for range 2 { // the second from disk
		c := NewCached(NewClang("", sandbox.DefaultLimits()), dir)
		for entry, want := range map[string]string{"vadd<float>": "_Z4vaddIfEvPT_", "vadd<int>": "_Z4vaddIiEvPT_", "c_name": ""} {
			r := request(t, "k.cu", fstest.MapFS{"k.cu": text(named)})
			r.Entry = entry
			if res, err := c.Compile(t.Context(), r); err != nil || res.Entry != want {
				t.Errorf("%s is %s, %v", entry, res.Entry, err)
			}
		}
	}
}

// TestRedefinedParametersAreRefused: a source that gives a tuning parameter its own value is
// refused with the place, however it does so; one that asks first, or says the same, is not.
func TestRedefinedParametersAreRefused(t *testing.T) {
	needClang(t)
	const kernelText = "\nextern \"C\" __global__ void k(float *x) { x[threadIdx.x] = TILE; }\n"
	for _, tt := range []struct {
		name, text, header string
		options            []string
		want               string
	}{
		{"plainly", "#define TILE 16", "", nil, "k.cu:1: error: this #define of TILE takes the place of its value 64"},
		{"after undefining it", "// first\n#undef TILE\n#define TILE 16", "", nil, "k.cu:3: error: this #define of TILE"},
		{"in a header", "#include \"h.h\"", "\n#define TILE 16", nil, "h.h:2: error: this #define of TILE"},
		{"without warnings", "#define TILE 16", "", []string{"-w"}, "k.cu:1: error: this #define of TILE"},
		{"identically", "#define TILE 64", "", nil, ""},
		{"when asked", "#ifndef TILE\n#define TILE 16\n#endif", "", nil, ""},
		{"where it is left out", "#if 0\n#define TILE 16\n#endif", "", nil, ""},
		{"another macro", "#define OTHER 1\n#undef OTHER\n#define OTHER 2\n#define kernel_tuner 2", "", nil, ""},
		{"undefined in the end", "", "", nil, ""},
	} {
		files := fstest.MapFS{"k.cu": text(tt.text + kernelText), "h.h": text(tt.header)}
		if tt.name == "undefined in the end" {
			files["k.cu"] = text(kernelText + "#undef TILE")
		}
		r := request(t, "k.cu", files, call.Macro{Name: "kernel_tuner", Value: "1"}, call.Macro{Name: "TILE", Value: "64"})
		r.Fixed, r.Options = []string{"TILE"}, tt.options
		for _, c := range []*Clang{NewClang("", sandbox.DefaultLimits())} {
			_, err := c.Compile(t.Context(), r)
			var e *Error
			if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
			}
		}
	}
}

// nvcc's own words for it, and those of the gcc that it calls.
func TestRedefinitionsInWarnings(t *testing.T) {
	src := &source.Source{Macros: []call.Macro{{Name: "TILE", Value: "64"}}}
	for message, want := range map[string]string{
		"./k.cu:7: warning: \"TILE\" redefined\n    7 | #define TILE 16\n      | \n../macros.h:1: note: this is the location of the previous definition\n":  "k.cu:7: error",
		"k.cu(7): warning #47-D: incompatible redefinition of macro \"TILE\" (declared at line 1 of ../macros.h)\n":                                         "k.cu(7)",
		"tuning parameters:1: warning: \"TILE\" redefined\n    1 | #define TILE 64\n./inc/h.h:3:9: note: this is the location of the previous definition\n": "inc/h.h:3: error",
		"k.cu:7: warning: \"OTHER\" redefined\n":  "",
		"k.cu:7: warning: 'TILE' is deprecated\n": "",
	} {
		got := redefined(message, []string{"TILE"}, src)
		if want == "k.cu(7)" {
			want = "k.cu:7: error"
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

// TestFileNames: names with blanks and letters of any language are compiled, and messages
// name them.
func TestFileNames(t *testing.T) {
	needClang(t)
	for _, name := range []string{"my kernel.cu", "dir with blanks/größe (2).cu", "日本+b=c@d,e.cu"} {
		for _, c := range []*Clang{NewClangAsNVCC(sandbox.DefaultLimits())} {
			files := fstest.MapFS{name: text("#include \"a b.h\"\nextern \"C\" __global__ void k(float *x) { x[0] = V; }"), "a b.h": text("#define V 1")}
			if res, err := c.Compile(t.Context(), request(t, name, files)); err != nil || !strings.Contains(string(res.PTX), ".entry k(") {
				t.Errorf("%s: %v", name, err)
			}
			files[name] = text("int x = ;")
			var e *Error
			if _, err := c.Compile(t.Context(), request(t, name, files)); !errors.As(err, &e) || !strings.Contains(err.Error(), name+":1:9: error: expected expression") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, name := range []string{"$(x).cu", "`x`.cu", "-o.cu", "a/-I.cu", "a\".cu", "a'b.cu", "a;b.cu", "a|b.cu", "a&b.cu", " a.cu", "a\n.cu", "\x00.cu", "a:b.cu", "a%b.cu", "a#b.cu", "\xff.cu"} {
		var e *Error
		if _, err := readSource(request(t, name, fstest.MapFS{name: text("")})); !errors.As(err, &e) {
			t.Errorf("%q: %v, want an error of the source", name, err)
		}
	}
}

// Folders that options name are searched, and nothing outside.
func TestIncludeFolders(t *testing.T) {
	needClang(t)
	files := fstest.MapFS{
		"k.cu":    text("#include \"a.h\"\n#include <b.h>\n#define H <c.h>\n#include H\nextern \"C\" __global__ void k(float *x) { x[0] = A + B + C + F; }"),
		"inc/a.h": text("#define A 1"), "my inc/b.h": text("#define B 2"), "sys/c.h": text("#define C 4"), "f.h": text("#define F 8"),
	}
	for _, c := range []*Clang{NewClang("", sandbox.DefaultLimits()), NewClangAsNVCC(sandbox.DefaultLimits())} {
		r := request(t, "k.cu", files)
		r.Options = []string{"-Iinc", "-Imy inc", "-isystem=sys", "-include=f.h"}
		if res, err := c.Compile(t.Context(), r); err != nil || !strings.Contains(string(res.PTX), "1097859072") && !strings.Contains(string(res.PTX), "0f41700000") {
			t.Errorf("%v:\n%s", err, res.PTX)
		}
	}
}
