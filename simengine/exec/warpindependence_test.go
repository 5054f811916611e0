package exec

import (
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
)

// Warps that wait for others, or branch by what others may have written, do not go by
// themselves.
func TestWarpsIndependent(t *testing.T) {
	const branch = "\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra end;\nst.global.u32 [%rd3], %r0;\nend:"
	for name, c := range map[string]struct {
		body           string
		apart, meeting bool
	}{
		"data":                {"ld.shared.u32 %r1, [%r31];\nst.shared.u32 [%r31], %r1;", true, true},
		"what memory holds":   {"ld.global.u32 %r1, [%rd4];" + branch, true, true},
		"barrier of some":     {"bar.sync 1, 32;", false, false},
		"barrier that counts": {"bar.red.popc.u32 %r1, 0, %p0;" + branch, false, false},
		"barrier":             {"bar.sync 0;", false, true},
		"shared memory":       {"ld.shared.u32 %r1, [%r31];" + branch, false, false},
		"some memory":         {"ld.u32 %r1, [%rd4];" + branch, false, false},
		"what it has written": {"st.global.u32 [%rd4], %r0;\nld.global.u32 %r1, [%rd4];" + branch, false, false},
		"an atomic's value":   {"atom.global.add.u32 %r1, [%rd4], 1;" + branch, false, false},
	} {
		p := compileFor(t, buildKernel(t, "k.ptx", []byte(bodyKernel("", c.body))), Slice)
		if p.WarpsIndependent() != c.apart {
			t.Errorf("%s: warps go by themselves: %v, want %v", name, !c.apart, c.apart)
		}
		if p.WarpsOnlyMeet() != c.meeting {
			t.Errorf("%s: warps only meet: %v, want %v", name, !c.meeting, c.meeting)
		}
		launch := Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{64, 1, 1}, DynamicShared: 64, Params: make([]byte, 64)}
		err := NewRunner(p).Run(launch, memory.New(0), 0, Options{Warps: 2}, nil)
		if refused := err != nil && strings.Contains(err.Error(), "some warps asked for"); refused == c.meeting {
			t.Errorf("%s: the second warp alone: %v", name, err)
		}
	}
}
