package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
)

// A parameter that the source declares itself is no macro: KernelName passes its value. One that a directive names is a
// macro whatever else there is.
func TestParametersThatTheSourceDeclares(t *testing.T) {
	for _, tt := range []struct{ source, macro, entry string }{
		{"template <int BLOCK, typename T> __global__ void k(float *x, int n) {}", "", "ns::k<128, float>"},
		{"template <class BLOCK> __global__ void k(float *x, int n) {}", "", "ns::k<128, float>"},
		{"struct S { int BLOCK; }; __global__ void k(float *x, int n) {}", "", "ns::k<128, float>"},
		{"__global__ void k(float *x, int n) { n += p->BLOCK; }", "", "ns::k<128, float>"},
		{"__global__ void k(float *x, int n) { n += BLOCK; }", "{BLOCK 128} ", "ns::k<BLOCK, float>"},
		{"#ifndef BLOCK\nconst int BLOCK = 5;\n#endif\n__global__ void k(float *x, int n) {}", "{BLOCK 128} ", "ns::k<BLOCK, float>"},
		{"/* int BLOCK; */ __global__ void k(float *x, int n) { n += BLOCK; }", "{BLOCK 128} ", "ns::k<BLOCK, float>"},
		{"int kernel_tuner, BLOCK2; template <int BLOCK> __global__ void k(float *x, int n) {}", "{BLOCK 128} ", "ns::k<BLOCK, float>"},
	} {
		text := strings.Replace(foreign, `"KernelName": "k"`, `"KernelName": "ns::k<BLOCK, float>"`, 1)
		d, _, err := Parse("x", []byte(text), call.Memory{"k.cu": []byte(tt.source)})
		if err != nil {
			t.Fatal(err)
		}
		c := launch(t, d, nil, "BLOCK=128").Compile
		want := "[{kernel_tuner 1} {block_size_x 128} {block_size_y 1} {block_size_z 1} " + tt.macro + "{ONE 1}]"
		if got := fmt.Sprint(c.Macros); got != want || c.Entry != tt.entry {
			t.Errorf("%s\nmacros %s, want %s\nentry %s, want %s", tt.source, got, want, c.Entry, tt.entry)
		}
		if fixed := fmt.Sprint(c.Fixed); strings.Contains(fixed, "BLOCK") != (tt.macro != "") {
			t.Errorf("%s: the source may not change %s", tt.source, fixed)
		}
	}
}
