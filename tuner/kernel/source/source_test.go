package source

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// request is a CUDA compilation over the files, the first of which is the source.
func request(t testing.TB, main string, files fstest.MapFS, macros ...call.Macro) call.Compile {
	t.Helper()
	f, ok := files[main]
	if !ok {
		t.Fatalf("no file %s", main)
	}
	return call.Compile{Language: call.CUDA, SourceFile: main, Source: f.Data, Macros: macros, Files: files}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestMacrosThatMatter(t *testing.T) {
	macros := []call.Macro{{Name: "TILE", Value: "2*HALF"}, {Name: "HALF", Value: "8"}, {Name: "max_registers", Value: "32"}, {Name: "OTHER", Value: "TILE"}}
	src, err := Read(request(t, "k.cu", fstest.MapFS{"k.cu": text("int x = TILE;")}, macros...))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := src.MacroKey(), `{"HALF":"8","TILE":"2*HALF"}`; got != want {
		t.Errorf("macros %s, want %s", got, want)
	}
	src, err = Read(request(t, "k.cu", fstest.MapFS{"k.cu": text("a ## b")}, macros...))
	if err != nil || len(src.Macros) != 4 {
		t.Errorf("pasting text: %v, %v; want all macros", src, err)
	}
}

func TestSourceDigest(t *testing.T) {
	files := fstest.MapFS{"k.cu": text(`#include "h.h"`), "h.h": text("int x;"), "other.h": text("int y;")}
	digest := func(files fstest.MapFS, main string) string {
		t.Helper()
		s, err := Read(request(t, main, files))
		if err != nil {
			t.Fatal(err)
		}
		return s.Digest
	}
	first := digest(files, "k.cu")
	changed := maps.Clone(files)
	changed["other.h"] = text("changed")
	if digest(changed, "k.cu") != first {
		t.Error("a header that is not included changes the digest")
	}
	changed["h.h"] = text("int z;")
	if digest(changed, "k.cu") == first {
		t.Error("an included header does not change the digest")
	}
	if digest(fstest.MapFS{"sub/other.cu": files["h.h"]}, "sub/other.cu") != digest(fstest.MapFS{"k.cu": files["h.h"]}, "k.cu") {
		t.Error("the kernel file's name changes the digest")
	}
}

func TestSourceThatIsRefused(t *testing.T) {
	ok := fstest.MapFS{"k.cu": text("x")}
	for _, tt := range []struct {
		name string
		c    call.Compile
		want string
	}{
		{"computed include", request(t, "k.cu", fstest.MapFS{"k.cu": text("\n#include FILE")}), "k.cu:2: #include and #embed need a file name"},
		{"absolute include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "/etc/passwd"`)}), "leaves the bundle"},
		{"parent include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "../x.h"`)}), "leaves the bundle"},
		{"nested parent", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "a/h.h"`), "a/h.h": text(`#include "../../x"`)}), "a/h.h:1"},
		{"computed outside", request(t, "k.cu", fstest.MapFS{"k.cu": text("#define F </etc/passwd>\n#include F")}), "leaves the bundle"},
		{"computed by the configuration", request(t, "k.cu", fstest.MapFS{"k.cu": text("#include F")}, call.Macro{Name: "F", Value: `"../x"`}), "leaves the bundle"},
		{"file name", request(t, "$(x).cu", fstest.MapFS{"$(x).cu": text("x")}), "file name"},
		{"option as name", request(t, "-o.cu", fstest.MapFS{"-o.cu": text("x")}), "file name"},
		{"macro name", request(t, "k.cu", ok, call.Macro{Name: "A B", Value: "1"}), "not an identifier"},
		{"macro value", request(t, "k.cu", ok, call.Macro{Name: "A", Value: "1\n#include"}), "one line"},
		{"macro continued", request(t, "k.cu", ok, call.Macro{Name: "A", Value: `1\`}), "one line"},
		{"macro twice", request(t, "k.cu", ok, call.Macro{Name: "A", Value: "1"}, call.Macro{Name: "A", Value: "2"}), "twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Read(tt.c)
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, tt.want) {
				t.Errorf("got %v, want an *Error with %q", err, tt.want)
			}
		})
	}
}

func TestSourceReadFault(t *testing.T) {
	r := request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "h.h"`)})
	r.Files = broken{}
	var e *Error
	if _, err := Read(r); err == nil || errors.As(err, &e) {
		t.Errorf("a file that cannot be read gives %v, want a fault of the machine", err)
	}
}

type broken struct{}

func (broken) ReadFile(string) ([]byte, error) { return nil, fs.ErrPermission }

// Includes that options and macros give are files of the bundle as written ones are.
func TestIncludedByOptionsAndMacros(t *testing.T) {
	files := fstest.MapFS{
		"k.cu":    text("#include \"a.h\"\n#include <b.h>\n#define STR(x) #x\n#define PATH(d, f) STR(d/f.h)\n#include PATH(deep, TILE)\n#ifdef Z\n#define H <z.h>\n#else\n#define H \"é ü.h\"\n#endif\n#include H\n"),
		"inc/a.h": text("int A;"), "a.h": text("int beside;"), "inc/b.h": text("#include \"c.h\""), "inc/c.h": text("PAD"), "sys/b.h": text("not this"),
		"first.h": text("int F;"), "deep/16.h": text("DEEP"), "deep/32.h": text("OTHER"), "z.h": text("int z;"), "é ü.h": text("int u;"),
	}
	r := request(t, "k.cu", files, call.Macro{Name: "TILE", Value: "16"}, call.Macro{Name: "DEEP", Value: "1"}, call.Macro{Name: "OTHER", Value: "1"})
	r.Options = []string{"-isystem=sys", "-Iinc", "-include=first.h"}
	src, err := Read(r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(slices.Sorted(maps.Keys(src.Files)), ", "), "a.h, deep/16.h, first.h, inc/b.h, inc/c.h, k.cu, z.h, é ü.h"; got != want {
		t.Errorf("files %s, want %s", got, want)
	}
	if got, want := src.MacroKey(), `{"DEEP":"1","TILE":"16"}`; got != want {
		t.Errorf("macros %s, want %s", got, want)
	}
	r.Entry = "ns::k<OTHER>"
	if src, err = Read(r); err != nil || !strings.Contains(src.MacroKey(), "OTHER") {
		t.Errorf("%v, %v: the kernel's name uses a macro", src, err)
	}
}

// Macros that name themselves, or grow without end, end.
func TestEndlessMacros(t *testing.T) {
	for _, s := range []string{
		"#define A A\n#include A\n", "#define A B B B\n#define B A A A\n#include A\n", "#define F(x) F(F(x) F(x))\n#include F(F(1))\n",
		"#define F(x, y) x##y F(x, y)\n#include F(F, (1, 2))\n", "#include F(\n", "#define F(\n#include F(1)\n",
	} {
		if _, err := Read(request(t, "k.cu", fstest.MapFS{"k.cu": text(s)})); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%q: %.200v", s, err)
		}
	}
}
