package dialect

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/tuner/kernel/source"
)

// Special registers behind one percent sign are written with two, where the statement has operands and nowhere else; what is
// escaped already, and operands, stay as they are.
func TestEscapeRegisters(t *testing.T) {
	for in, want := range map[string]string{
		`asm("mov.u32 %0, %laneid;" : "=r"(x));`:                                       `asm("mov.u32 %0, %%laneid;" : "=r"(x));`,
		`asm volatile("mov.u32 %0, %clusterid.x;\n" "mov.u32 %1, %smid;" : :);`:        `asm volatile("mov.u32 %0, %%clusterid.x;\n" "mov.u32 %1, %%smid;" : :);`,
		`__asm__ __volatile__ ( "mov.u64 %0, %globaltimer;"` + "\n" + `  : "=l"(t) );`: `__asm__ __volatile__ ( "mov.u64 %0, %%globaltimer;"` + "\n" + `  : "=l"(t) );`,
		`asm("mov.u32 %0, %%laneid;" : "=r"(x));`:                                      `asm("mov.u32 %0, %%laneid;" : "=r"(x));`,
		`asm("{ .reg .u32 r; mov.u32 r, %laneid; }");`:                                 `asm("{ .reg .u32 r; mov.u32 r, %laneid; }");`,
		`printf("%laneid", x); asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));`: `printf("%laneid", x); asm("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b));`,
	} {
		src := &source.Source{Files: map[string][]byte{"k.cu": []byte(in)}}
		EscapeRegisters(src)
		if got := string(src.Files["k.cu"]); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", in, got, want)
		}
		if strings.Count(want, "\n") != strings.Count(string(src.Files["k.cu"]), "\n") {
			t.Errorf("%s: lines are lost", in)
		}
	}
}
