package source

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/warptune/warptune/tuner/kernel"
)

// request is a CUDA compilation over the files, the first of which is the source.
func request(t testing.TB, main string, files fstest.MapFS, macros ...kernel.Macro) kernel.Compile {
	t.Helper()
	f, ok := files[main]
	if !ok {
		t.Fatalf("no file %s", main)
	}
	return kernel.Compile{Language: kernel.CUDA, SourceFile: main, Source: f.Data, Macros: macros, Files: files}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func TestMacrosThatMatter(t *testing.T) {
	macros := []kernel.Macro{{Name: "TILE", Value: "2*HALF"}, {Name: "HALF", Value: "8"}, {Name: "max_registers", Value: "32"}, {Name: "OTHER", Value: "TILE"}}
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
		c    kernel.Compile
		want string
	}{
		{"computed include", request(t, "k.cu", fstest.MapFS{"k.cu": text("\n#include FILE")}), "k.cu:2: #include and #embed need a literal"},
		{"absolute include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "/etc/passwd"`)}), "leaves the bundle"},
		{"parent include", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "../x.h"`)}), "leaves the bundle"},
		{"nested parent", request(t, "k.cu", fstest.MapFS{"k.cu": text(`#include "a/h.h"`), "a/h.h": text(`#include "../../x"`)}), "a/h.h:1"},
		{"file name", request(t, "$(x).cu", fstest.MapFS{"$(x).cu": text("x")}), "file name"},
		{"option as name", request(t, "-o.cu", fstest.MapFS{"-o.cu": text("x")}), "file name"},
		{"macro name", request(t, "k.cu", ok, kernel.Macro{Name: "A B", Value: "1"}), "not an identifier"},
		{"macro value", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: "1\n#include"}), "one line"},
		{"macro continued", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: `1\`}), "one line"},
		{"macro twice", request(t, "k.cu", ok, kernel.Macro{Name: "A", Value: "1"}, kernel.Macro{Name: "A", Value: "2"}), "twice"},
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
