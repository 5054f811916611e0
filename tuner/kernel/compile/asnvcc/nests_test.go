package asnvcc

import (
	"strings"
	"testing"
)

// A loop of a known number of iterations is not unrolled in part either, unless it is short enough to
// be unrolled whole; one that its author says how to unroll is left alone.
func TestKeepNests(t *testing.T) {
	loop := func(name, begin, end, inner string) string {
		return "  store i32 " + begin + ", ptr %" + name + ", align 4\n  br label %head" + name + "\nhead" + name + ":\n  %v" + name + " = load i32, ptr %" + name + ", align 4\n" +
			"  %c" + name + " = icmp slt i32 %v" + name + ", " + end + "\n  br i1 %c" + name + ", label %body" + name + ", label %end" + name + "\nbody" + name + ":\n" + inner +
			"  br label %head" + name + ", !llvm.loop !" + name + "\nend" + name + ":\n"
	}
	const inner = "  %m = load i32, ptr %5, align 4\n"
	for _, tt := range []struct{ begin, end, properties, want string }{
		{"0", "%n", "!9", ", !11"},
		{"0", "23", "!9", ", !10"},
		{"4", "16", "!9", ", !11"},
		{"0", "%n", "!9, !8", ""},
	} {
		ir := "define void @k() {\n" + loop("1", tt.begin, tt.end, loop("2", "0", "%m", inner)) + "}\n!1 = distinct !{!1, " + tt.properties + "}\n!2 = distinct !{!2, !9}\n" +
			"!8 = !{!\"llvm.loop.unroll.count\", i32 4}\n!9 = !{!\"llvm.loop.mustprogress\"}\n"
		got := string(keepNests([]byte(ir)))
		if want := "\n!1 = distinct !{!1, " + tt.properties + tt.want + "}\n"; !strings.Contains(got, want) || !strings.Contains(got, "\n!2 = distinct !{!2, !9}\n") {
			t.Errorf("from %s to %s, %s: no %q in\n%s", tt.begin, tt.end, tt.properties, want, got)
		}
		if tt.want == "" && got != ir {
			t.Errorf("changed to\n%s", got)
		}
	}
}
