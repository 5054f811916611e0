package asnvcc

import (
	"fmt"
	"testing"
)

// Arrays of words are aligned as far as their size goes, others left alone.
func TestAlignArrays(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"  %a = alloca [5 x float], align 4", "  %a = alloca [5 x float], align 4"},
		{"  %a = alloca [6 x i32], align 4", "  %a = alloca [6 x i32], align 8"},
		{"  %12 = alloca [12 x float], align 4", "  %12 = alloca [12 x float], align 16"},
		{"  %a = alloca [32 x float], align 4", "  %a = alloca [32 x float], align 16"},
		{"  %a = alloca [32 x double], align 8", "  %a = alloca [32 x double], align 8"},
		{"  %a = alloca [16 x i8], align 4", "  %a = alloca [16 x i8], align 4"},
		{"  %a = alloca [0 x float], align 4", "  %a = alloca [0 x float], align 4"},
	} {
		const around = "define void @k() {\n%s\n  ret void\n}\n"
		if got := string(alignArrays(fmt.Appendf(nil, around, tt.line))); got != fmt.Sprintf(around, tt.want) {
			t.Errorf("%s became\n%s", tt.line, got)
		}
	}
}
