package compile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// No spelling of an #include reaches a file outside the bundle: not its content,
// by way of a diagnostic, and not by a successful compilation.
func TestNoSourceReadsOutside(t *testing.T) {
	c := needClang(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.h")
	if err := os.WriteFile(secret, []byte("int TOPSECRET = ;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fine := filepath.Join(dir, "fine.h")
	if err := os.WriteFile(fine, []byte("#define FINE 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{secret, fine} {
		up := strings.Repeat("../", 40) + file[1:]
		for name, src := range map[string]string{
			"plain":                                  "#include \"" + file + "\"\n",
			"angled":                                 "#include <" + file + ">\n",
			"upwards":                                "#include \"" + up + "\"\n",
			"import":                                 "#import \"" + file + "\"\n",
			"include_next":                           "#include_next \"" + file + "\"\n",
			"macro":                                  "#define F \"" + file + "\"\n#include F\n",
			"form feed":                              "#\finclude \"" + file + "\"\n",
			"vertical tab":                           "#\vinclude\v\"" + file + "\"\n",
			"comment":                                "#/**/include/*\n*/\"" + file + "\"\n",
			"continued":                              "#inc\\\nlude \"" + file + "\"\n",
			"continued by space":                     "#inc\\ \nlude \"" + file + "\"\n",
			"continued by tab":                       "#\\\t\ninclude \"" + file + "\"\n",
			"digraph":                                "%:include \"" + file + "\"\n",
			"trigraph":                               "??=include \"" + file + "\"\n",
			"universal name":                         "#inc\\u006cude \"" + file + "\"\n",
			"after a false raw string":               "#define fooR\nconst char *s = fooR\"( \"\n;\n#include \"" + file + "\"\n// )\"\n",
			"after a raw string that ends otherwise": "const char *s = R\"x(\n)\"\n)x\";\n#include \"" + file + "\"\n",
			"after a quote in a directive":           "#error don't\n#include \"" + file + "\"\n",
			"carriage return":                        "int x;\r#include \"" + file + "\"\r",
			"null":                                   "#\x00include \"" + file + "\"\n",
			"embed":                                  "const char s[] = {\n#embed \"" + file + "\"\n};\n",
			"digraph embed":                          "const char s[] = {\n%:embed \"" + file + "\"\n};\n",
			"pragma dependency":                      "#pragma GCC dependency \"" + file + "\"\n",
			"pragma operator":                        "_Pragma(\"GCC dependency \\\"" + file + "\\\"\")\n",
			"module":                                 "#pragma clang module import \"" + file + "\"\n",
			"line":                                   "#line 1 \"" + file + "\"\nint x = ;\n",
			"assembly":                               "__global__ void k() { asm volatile(\".include \\\"" + file + "\\\"\"); asm(\".incbin \\\"" + file + "\\\"\"); }\n",
		} {
			r := request(t, "k.cu", fstest.MapFS{"k.cu": text(src + "#ifdef FINE\nextern \"C\" __device__ int REACHED;\n#endif\n")})
			r.Options = []string{"-std=c++14"} // has trigraphs, which later ones do not
			res, err := c.Compile(context.Background(), r)
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%s: %v", name, err)
				continue
			}
			said := string(res.PTX)
			if e != nil {
				said = e.Message
			}
			if strings.Contains(said, "TOPSECRET") || err == nil && strings.Contains(said, "REACHED") {
				t.Errorf("%s: %s is read: %.300s", name, filepath.Base(file), said)
			}
		}
	}
}
