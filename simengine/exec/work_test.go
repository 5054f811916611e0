package exec

import (
	"errors"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/exec/fault"
	"github.com/warptune/warptune/simengine/ir"
)

// silent is an observer that keeps nothing.
type silent struct{ steps, accesses, lanes int64 }

func (s *silent) Step(int, int, uint32)  { s.steps++ }
func (s *silent) Repeat(int, int, int64) {}
func (s *silent) Access(_, _ int, _ ir.Space, _ int, mask uint32, _ *[WarpSize]uint64) {
	s.accesses++
	for ; mask != 0; mask &= mask - 1 {
		s.lanes++
	}
}

// Work counts all warps' instructions and what the observer is told, the same in
// every run; a limit of just as much is enough, and one less is not.
func TestWorkLimit(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(bodyKernel("", `
	mov.u32 %r5, 0;
again:
	ld.global.u32 %r6, [%rd3];
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p0, %r5, 100;
	@%p0 bra again;`)))
	r := NewRunner(compileFor(t, k, Full))
	run := func(limit int64, obs Observer) error {
		l, m := launchBody(t, k, 128)
		return r.Run(l, m, 0, Options{WorkLimit: limit}, obs)
	}
	if err := run(0, nil); err != nil {
		t.Fatal(err)
	}
	alone := r.Work()
	seen := &silent{}
	if err := run(0, seen); err != nil {
		t.Fatal(err)
	}
	work := r.Work()
	if least := 4*100*4 + workAccess*seen.accesses + workLane*seen.lanes; work != alone || work < least {
		t.Errorf("work %d with an observer and %d without, want at least %d", work, alone, least)
	}
	if err := run(work, &silent{}); err != nil || r.Work() != work {
		t.Errorf("within the limit: %v, work %d", err, r.Work())
	}
	var f *fault.Fault
	if err := run(work-1, &silent{}); !errors.As(err, &f) || f.Kind != fault.StepLimit || !strings.Contains(f.Detail, "too long to simulate") {
		t.Errorf("beyond the limit: %v", err)
	}
}

// Where the limit is met in a loop of which no iterations are left out, the fault says
// which one and why.
func TestWorkLimitNamesTheLoop(t *testing.T) {
	for _, c := range []struct{ name, step, want string }{
		{"counted", "add.u32 %r6, %r6, 1;", ""},
		{"not counted", "ld.shared.u32 %r6, [%r31];\n\tadd.u32 %r31, %r31, %r6;", "; of the loop at k.ptx:"},
	} {
		k := buildKernel(t, "k.ptx", []byte(bodyKernel("", `
	mov.u32 %r5, 0;
again:
	`+c.step+`
	ld.shared.u32 %r7, [%r31];
	add.u32 %r5, %r5, 1;
	setp.lt.u32 %p0, %r5, 1000;
	@%p0 bra again;`)))
		l, m := launchBody(t, k, 128)
		var f *fault.Fault
		err := NewRunner(compileFor(t, k, Slice)).Run(l, m, 0, Options{Mode: Slice, LoopSample: 3, WorkLimit: 50}, nil)
		if !errors.As(err, &f) || f.Kind != fault.StepLimit {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, why, _ := strings.Cut(f.Detail, "too long to simulate"); (why == "") != (c.want == "") || !strings.HasPrefix(why, c.want) {
			t.Errorf("%s: %q after the limit, want %q", c.name, why, c.want)
		} else if why != "" {
			t.Log(why)
		}
	}
}
