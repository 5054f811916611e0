package dialect

import (
	"testing"

	"github.com/warptune/warptune/tuner/kernel/call"
	"github.com/warptune/warptune/tuner/kernel/source"
)

// nvcc is given the values of macros in pragmas.
func TestUnrollFactorsAreExpandedForNVCC(t *testing.T) {
	text := []byte("#pragma unroll U\n# pragma unroll (U)\n#pragma unroll\n#pragma unroll 4 // U\n  #pragma unroll W\nint U; // #pragma unroll U\n")
	src := &source.Source{Files: map[string][]byte{"k.cu": text}, Macros: []call.Macro{{Name: "U", Value: "8"}, {Name: "W", Value: "U*2"}}}
	ExpandUnroll(src)
	want := "#pragma unroll (8)\n# pragma unroll ((8))\n#pragma unroll\n#pragma unroll 4 // (8)\n  #pragma unroll ((8)*2)\nint U; // #pragma unroll U\n"
	if got := string(src.Files["k.cu"]); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
