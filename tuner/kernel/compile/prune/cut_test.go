package prune

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// at is the place of the first mark "@" in a text, and the text without it.
func at(t *testing.T, text string) (Place, string) {
	t.Helper()
	i := strings.IndexByte(text, '@')
	if i < 0 {
		t.Fatalf("no mark in %q", text)
	}
	line := strings.Count(text[:i], "\n") + 1
	return Place{"a.cu", line, i - strings.LastIndexByte(text[:i], '\n')}, text[:i] + text[i+1:]
}

// TestCut: the smallest part goes that the kernel does not need.
func TestCut(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a statement", "int main() { int a = 1; @b.c(a); return a; }", "int main() { int a = 1; ; return a; }"},
		{"a declaration", "int main() { std::@vector<float> h(1, {2}); k<<<1, 2>>>(d); }", "int main() { ; k<<<1, 2>>>(d); }"},
		{"a condition", "int main() { if (@f(1)) { g(); } else h(); i(); }", "int main() { ; i(); }"},
		{"a branch", "int main() { if (a) { g(); } else @h(); i(); }", "int main() { if (a) { g(); } else ; i(); }"},
		{"a loop's body", "int main() { for (int i = 0; i < 3; ++i) { int j = i; @g(j); } }", "int main() { for (int i = 0; i < 3; ++i) { int j = i; ; } }"},
		{"a lambda's body", "int main() { auto f = [&](int a) { @g(a); k<3><<<1, 2>>>(d); }; f(1); }", "int main() { auto f = [&](int a) { ; k<3><<<1, 2>>>(d); }; f(1); }"},
		{"a launch", "int main() { k<A, (B > 1)><<<1, 2>>>(@d); }", "int main() { {(void)&(k<A, (B > 1)>);} }"},
		{"a signature", "void f(@x y) { g(); }\nint a;", "\nint a;"},
		{"another kernel", "__global__ void other(float *x) { @t(x); }\n__global__ void k() {}", "\n__global__ void k() {}"},
		{"a device function", "template <class T> __device__ T f(T x) { return @g(x); }", "template <class T> __device__ T f(T x) ;"},
		{"by a macro", "#define DEV static __device__ \\\n inline\n#define MY DEV\nMY int f() { @g(); }", "#define DEV static __device__ \\\n inline\n#define MY DEV\nMY int f() ;"},
		{"a class", "struct S { int n; @std::map<int> m; };\nint a;", "\nint a;"},
		{"a member's statement", "struct S { int n; void f() { int a; @g(); } };", "struct S { int n; void f() { int a; ; } };"},
		{"in a namespace", "namespace n { extern \"C\" { void f() { @g(); h(); } } }", "namespace n { extern \"C\" { void f() { ; h(); } } }"},
		{"comments and literals", "int main() { f(\"};@{\"); /* ; } */ g('}'); } // {\nint a;", "int main() { ; /* ; } */ g('}'); } // {\nint a;"},
		{"branches of #if", "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\nh();\n@i(); }\nint a;", "#if A\nvoid f() {\n#else\nvoid g() {\n#endif\nh();\n; }\nint a;"},
		{"an include", "#include <@nowhere>\nint a;", "\nint a;"},
		{"lines", "int main() {\n  f(1,\n    @2);\n}", "int main() {\n  ;\n\n}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place, text := at(t, c.text)
			files := map[string][]byte{"a.cu": []byte(text)}
			kept, changed := New(files, "k").Cut([]Place{place})
			if got := string(files["a.cu"]); got != c.want || len(kept) > 0 || !changed {
				t.Errorf("got %q, want %q; kept %v", got, c.want, kept)
			}
		})
	}
}

// TestKept: what the kernel is made of stays.
func TestKept(t *testing.T) {
	for _, c := range []struct{ name, kernel, text string }{
		{"its body", "k", "__global__ void k(float *x) { @t(x); }"},
		{"its parameters", "ns::k<float, T>", "namespace ns { template <class A, int B> __global__ void __launch_bounds__(32) k(@t x) {} }"},
		{"its declaration", "k", "extern \"C\" __global__ void k(@t x);"},
		{"its instantiation", "k", "template __global__ void k<@t>(int);"},
		{"beyond the text", "k", "int a;\n@"},
	} {
		t.Run(c.name, func(t *testing.T) {
			place, text := at(t, c.text)
			files := map[string][]byte{"a.cu": []byte(text)}
			kept, changed := New(files, c.kernel).Cut([]Place{place})
			if len(kept) != 1 || changed || string(files["a.cu"]) != text {
				t.Errorf("kept %v, changed to %q", kept, files["a.cu"])
			}
		})
	}
}

// TestCutAnyText: any text is read to its end, and keeps its lines.
func TestCutAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "{", "}", "(", ")", ";", "\n", "if", " ", "else", "\"", "'", "//", "/*", "*/", "#if\n", "#else\n", "#endif\n", "R\"(", ")\"", "<", ">", "=", ":",
			"template", "struct", "__device__", "__global__", "namespace", "for", "do", "case", "\\", "k("})).Draw(t, "parts")
		text := strings.Join(parts, "")
		files := map[string][]byte{"a.cu": []byte(text)}
		lines := strings.Count(text, "\n")
		New(files, "k").Cut([]Place{{"a.cu", rapid.IntRange(1, lines+2).Draw(t, "line"), rapid.IntRange(1, 8).Draw(t, "column")}})
		if got := strings.Count(string(files["a.cu"]), "\n"); got != lines {
			t.Fatalf("%d lines of %d", got, lines)
		}
	})
}
