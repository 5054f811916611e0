package option

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// kept are options that a compiler is given, by what clang is given for them.
var kept = map[string]string{
	"-std=c++17": "-std=c++17", "--std=c++11": "-std=c++11", "-O3": "-O3", "-use_fast_math": "-ffast-math -fcuda-flush-denormals-to-zero -DWARPTUNE_FTZ -DWARPTUNE_FAST_MATH",
	"--fmad=false": "-ffp-contract=off", "-ftz=true": "-fcuda-flush-denormals-to-zero -DWARPTUNE_FTZ", "-ftz=false": "",
	"-prec-div=false": "-mllvm -nvptx-prec-divf32=1", "--prec-sqrt=false": "-DWARPTUNE_APPROX_SQRT", "-prec-div=true": "",
	"-UNDEBUG": "-UNDEBUG", "-lineinfo": "-w", "--extra-device-vectorization": "",
}

// dropped are options that change nothing here.
var dropped = []string{
	"", " ", "-arch=sm_80", "--gpu-architecture=compute_70", "-arch sm_80", "-gencode arch=compute_80,code=[sm_80,compute_80]", "-Xptxas=-v", "-Xptxas -v,-warn-spills",
	"--ptxas-options=-v", "-Xptxas -dlcm=ca", "-default-device", "-Wno-deprecated-gpu-targets", "-Xcompiler -Wall,-fPIC", "--compiler-options=-O2", "-I.", "-I ./", "-g", "-m64",
	"-rdc=false", "--resource-usage", "-diag-suppress=177", "-ccbin g++-12",
}

// refused are options that are not accepted, by what the error says.
var refused = map[string]string{
	"-I/etc":             "in the definition's own folder only",
	"-I ../include":      "in the definition's own folder only",
	"-Ia/../../b":        "in the definition's own folder only",
	"-isystem /usr":      "in the definition's own folder only",
	"-include /etc/p.h":  "in the definition's own folder only",
	"--pre-include=$(x)": "in the definition's own folder only",
	"-G":                 "debug code",
	"-fplugin=x.so":      "accepted are -std=",
	"-Xptxas -dlcm=cg":   "it is for ptxas",
	"-Xptxas -O1":        "it is for ptxas",
	"-rdc=true":          "#include their source",
	"-maxrregcount=256":  "up to 255",
	"-DF(x)=x":           "a macro without parameters",
	"-D":                 "a macro without parameters",
	"-cl-mad-enable":     "OpenCL's",
	"-std=c++03":         "accepted are -std=",
	"-o x":               "accepted are",
	"--ID/":              "accepted are",
	"x.cu":               "accepted are",
	"-Xcompiler -DX":     "accepted are",
	"-O":                 "accepted are",
	"-UA;rm":             "accepted are",
	"-std=c++17;rm":      "accepted are",
}

func TestOptions(t *testing.T) {
	for o, want := range kept {
		s, err := Parse([]string{o})
		if err != nil {
			t.Errorf("%s: %v", o, err)
			continue
		}
		clang, err := Clang(s.Options)
		if err != nil || strings.Join(clang, " ") != want || !slices.Equal(s.Options, []string{o}) {
			t.Errorf("%s: %q, for clang %q, %v", o, s.Options, clang, err)
		}
	}
	for _, o := range dropped {
		if s, err := Parse([]string{o}); err != nil || s.Options != nil || s.Macros != nil || s.MaxRegisters != 0 {
			t.Errorf("%q: %+v, %v", o, s, err)
		}
	}
	for o, want := range refused {
		_, err := Parse([]string{"-w", o})
		var e *Error
		if !errors.As(err, &e) || e.Index != 1 || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), `compiler option "`) {
			t.Errorf("%s: %v, want %q", o, err, want)
		}
		if _, err := Clang([]string{o}); err == nil {
			t.Errorf("%s: clang is given it", o)
		}
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string
	}{
		{[]string{"-D X=1", "-DY", "-D", "Z=(1 + 2)", "--define-macro=V=a", "-DX=(1+2)", "-DE="}, "[] [{X (1+2)} {Y 1} {Z (1 + 2)} {V a} {E }] 0 0"},
		{[]string{"-use_fast_math -DA=1 -DB=2 -Xptxas -v"}, "[-use_fast_math] [{A 1} {B 2}] 0 0"},
		{[]string{"-arch", "sm_90", "-Xptxas", "-v", "-std", "c++14"}, "[-std=c++14] [] 0 1"},
		{[]string{"-maxrregcount=32"}, "[] [] 32 0"},
		{[]string{"--maxrregcount 64"}, "[] [] 64 0"},
		{[]string{"-Xptxas=--maxrregcount=40"}, "[] [] 40 0"},
		{[]string{"-fmad false", "-default-device"}, "[-fmad=false] [] 0 1"},
	} {
		s, err := Parse(c.given)
		if got := fmt.Sprint(s.Options, s.Macros, s.MaxRegisters, len(s.Notes)); err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.given, got, err, c.want)
		}
	}
}

// What is given to a compiler is its own normal form, holds no blank and no
// shell syntax, and clang has a spelling of it; anything else is an error, and
// nothing panics.
func TestAnyOption(t *testing.T) {
	pieces := []string{"-", "--", "D", "U", "I", "O", "3", "=", " ", "std", "c++17", "Xptxas", "v", "use_fast_math", "fmad", "false", "arch", "sm_80", "X", ",", ";", "$(x)", "`x`", "\"", "'", "\\", "\n", "/", ".", "(", "maxrregcount", "prec-div", "W", "no-x", "isystem", "include", "inc", "-Iinc", "-isystem ", "..", "/../a"}
	rapid.Check(t, func(t *rapid.T) {
		given := rapid.SliceOfN(rapid.Map(rapid.SliceOf(rapid.SampledFrom(pieces)), func(p []string) string { return strings.Join(p, "") }), 1, 4).Draw(t, "given")
		s, err := Parse(given)
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Index < 0 || e.Index >= len(given) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := Parse(s.Options)
		if err != nil || !slices.Equal(again.Options, s.Options) || again.Macros != nil {
			t.Fatalf("%q read again is %q, %v", s.Options, again.Options, err)
		}
		for _, o := range s.Options {
			if name, path, _ := (piece{text: o}).parts(); name == "-I" || name == "-isystem" || name == "-include" {
				if strings.ContainsAny(o, "$`\"'\\;\n(") || slices.Contains(strings.Split(path, "/"), "..") {
					t.Fatalf("%q is given to a compiler", o)
				}
				continue
			}
			if strings.Trim(o, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+-") != "" {
				t.Fatalf("%q is given to a compiler", o)
			}
		}
		if _, err := Clang(s.Options); err != nil {
			t.Fatal(err)
		}
		for _, m := range s.Macros {
			if strings.ContainsAny(m.Value, "\n\r") {
				t.Fatalf("macro %q", m)
			}
		}
	})
}

// TestIncludes: folders and files in every spelling come to one form, which nvcc and clang take.
func TestIncludes(t *testing.T) {
	for _, c := range []struct {
		given       []string
		dirs, files string
		clang       string
	}{
		{[]string{"-Iinc"}, "inc", "", "-I inc"},
		{[]string{"-I inc", "-I", "b/c", "--include-path=d", "-I=e"}, "inc b/c d e", "", "-I inc -I b/c -I d -I e"},
		{[]string{"-isystem sys", "-Iinc", "--system-include", "t"}, "inc sys t", "", "-isystem sys -I inc -isystem t"},
		{[]string{"-include a.h", "--pre-include=b/c.h", "-I."}, "", "a.h b/c.h", "-include a.h -include b/c.h"},
		{[]string{"-I./é x/y"}, "./é x/y", "", "-I ./é x/y"},
	} {
		s, err := Parse(c.given)
		if err != nil {
			t.Errorf("%q: %v", c.given, err)
			continue
		}
		dirs, files := Includes(s.Options)
		clang, err := Clang(s.Options)
		if err != nil || strings.Join(dirs, " ") != c.dirs || strings.Join(files, " ") != c.files || strings.Join(clang, " ") != c.clang {
			t.Errorf("%q: %q %q, for clang %q, %v", c.given, dirs, files, clang, err)
		}
	}
}
