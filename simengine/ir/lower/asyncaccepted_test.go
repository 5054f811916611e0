package lower_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/ir/lower"
	"github.com/warptune/warptune/simengine/ptx"
)

// TestAsyncAsPtxas takes of the asynchronous instructions what ptxas takes, and refuses what it refuses.
func TestAsyncAsPtxas(t *testing.T) { asPtxas(t, "testdata/async-accepted.txt.gz", 100) }

// TestTexturesAsPtxas takes of the instructions on textures and surfaces what ptxas takes, and refuses what it refuses.
func TestTexturesAsPtxas(t *testing.T) { asPtxas(t, "testdata/texture-accepted.txt.gz", 30) }

func asPtxas(t *testing.T, file string, least int) {
	list, err := results.Content(file)
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for line := range strings.Lines(string(list)) {
		text, plus := strings.CutPrefix(strings.TrimSpace(line), "+ ")
		text, minus := strings.CutPrefix(text, "- ")
		if !plus && !minus {
			continue
		}
		if plus {
			taken++
		}
		if err := assembles(text); (err == nil) != plus {
			t.Errorf("ptxas takes it: %v; here: %v: %s", plus, err, text)
		}
	}
	if taken < least {
		t.Errorf("%d instructions that ptxas takes", taken)
	}
}

// assembles builds a kernel with an instruction.
func assembles(instruction string) error {
	src := fmt.Sprintf(`.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b64 %%rd<8>;
	.reg .b32 %%r<8>;
	.reg .pred %%p<4>;
	.reg .f32 %%f<8>;
	.reg .b16 %%h<4>;
	.shared .align 128 .b8 s[2048];
	ld.param.u64 %%rd0, [out];
	mov.u32 %%r0, s;
	%s;
	ret;
}
`, instruction)
	f, err := ptx.Parse("k.ptx", []byte(src))
	if err != nil {
		return err
	}
	m, err := lower.Build(f)
	if err != nil {
		return err
	}
	_, err = m.Kernel("k")
	return err
}
