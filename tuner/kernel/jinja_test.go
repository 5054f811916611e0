package kernel

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// A source that is a template of text is refused before anything is compiled; braces as C++ has them are not.
func TestTemplatesOfText(t *testing.T) {
	for source, refused := range map[string]bool{
		"__global__ void k(const {{ real_type }} * a, int n) {}":                true,
		"{% for i in range(4) %}\n__global__ void k(float *a, int n) {}":        true,
		"__global__ void k(float *a, int n) { int x[1][1] = {{ n }}; }":         false,
		"__global__ void k(float *a, int n) { /* {{ type }} * */ a[0] = n; }":   false,
		"__global__ void k(float *a, int n) { if (n) {{ f(); }} a[0] = 1; }":    false,
		"{%- if double %}\n__global__ void k(double *a, int n) {}":              true,
		`__global__ void k(float *a, int n) { asm("mov.b64 {%0,%1}, %2;"); }`:   false,
		`__global__ void k(float *a, int n) { asm("mov.b64 {%r1,%f2}, %2;"); }`: false,
	} {
		d, _, err := Parse("x", []byte(foreign), call.Memory{"k.cu": []byte(source)})
		if err != nil {
			t.Fatal(err)
		}
		err = d.Launchable()
		if got := err != nil && strings.Contains(err.Error(), "KernelSpecification.KernelFile: the file is a template of Jinja"); got != refused || !refused && err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}
