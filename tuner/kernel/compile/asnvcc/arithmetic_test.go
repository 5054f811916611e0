package asnvcc

import "testing"

func TestSplitExtractions(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"\tbfe.u32 \t%r2, %r1, 8, 8;", "\tshr.u32 \t%r2, %r1, 8;\n\tand.b32 \t%r2, %r2, 255;"},
		{"\tbfe.u32 \t%r2, %r1, 5, 5;", "\tshr.u32 \t%r2, %r1, 5;\n\tand.b32 \t%r2, %r2, 31;"},
		{"\tbfe.s32 \t%r2, %r1, 8, 4;", "\tshl.b32 \t%r2, %r1, 20;\n\tshr.s32 \t%r2, %r2, 28;"},
		{"\tbfe.u32 \t%r2, %r1, %r3, 8;", "\tbfe.u32 \t%r2, %r1, %r3, 8;"},
		{"\tbfe.u32 \t%r2, %r1, 28, 8;", "\tbfe.u32 \t%r2, %r1, 28, 8;"},
		{"\tbfe.u64 \t%rd2, %rd1, 8, 8;", "\tbfe.u64 \t%rd2, %rd1, 8, 8;"},
		{"\tbfe.u32 %r2, %r1, 8, 8;", "\tbfe.u32 %r2, %r1, 8, 8;"}, // a user's assembly
	} {
		const around = "\t.reg .b32 \t%r<4>;\n"
		if got := string(splitExtractions([]byte(around + tt.line + "\n"))); got != around+tt.want+"\n" {
			t.Errorf("%s became\n%s", tt.line, got)
		}
	}
}
