package exec

import (
	"testing"

	"github.com/warptune/warptune/simengine/exec/memory"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// meetsByCounter meets by a counter in shared memory: the leaders of four warps add one and look until there are four.
const meetsByCounter = `
	and.b32 %r1, %r0, 31;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra there;
	atom.shared.add.u32 %r2, [buf], 1;
look:
	ld.volatile.shared.u32 %r3, [buf];
	setp.lt.u32 %p1, %r3, 4;
	@%p1 bra look;
there:
	bar.warp.sync 4294967295;
	st.global.u32 [%rd3], %r0;`

// Of a wait the trace has one look, and whose writes it takes: that of the last warp to write, and those of all others.
func TestWaitsAreTracedByTheirWrites(t *testing.T) {
	k := buildKernel(t, "k.ptx", []byte(bodyKernel("", meetsByCounter)))
	rec := coalesce.NewRecorder(k, 4)
	rec.Begin(0, 4)
	mem := memory.New(1 << 20)
	params := make([]byte, memory.ParamBytes(k))
	addr, err := mem.Alloc(memory.Buffer{Name: "out", Elem: ir.U32, Count: 512})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		params[i] = byte(addr >> (8 * i))
	}
	p := compileFor(t, k, Slice)
	watched, plain := NewRunner(p), NewRunner(p)
	launch := Launch{Grid: Dim3{1, 1, 1}, CTA: Dim3{128, 1, 1}, Params: params}
	if err := watched.Run(launch, mem, 0, Options{}, rec); err != nil {
		t.Fatal(err)
	}
	if err := plain.Run(launch, mem, 0, Options{}, nil); err != nil || plain.Work() != watched.Work() {
		t.Errorf("%v, work %d unobserved and %d observed", err, plain.Work(), watched.Work())
	}
	look := -1
	for b, spins := range k.SharedSpins() {
		if spins {
			look = b
		}
	}
	for i := range rec.CTA().Warps {
		w := &rec.CTA().Warps[i]
		looks, roles := 0, map[trace.WordRole]int{}
		for _, a := range w.Accesses {
			if k.BlockOf(int(a.PC)) == look {
				looks++
			}
		}
		for _, a := range w.Asyncs {
			if a.Barrier != trace.WordBarrier {
				t.Errorf("warp %d: barrier %#x, want one for the one write that ended waits", i, a.Barrier)
			}
			roles[a.Word]++
		}
		want := map[trace.WordRole]int{trace.WordArrival: 1, trace.WordWait: 1}
		if i == 3 {
			want = map[trace.WordRole]int{trace.WordWrite: 1, trace.WordWait: 1}
		}
		if looks != 1 || roles[trace.WordArrival] != want[trace.WordArrival] || roles[trace.WordWait] != 1 || roles[trace.WordWrite] != want[trace.WordWrite] {
			t.Errorf("warp %d: %d looks and roles %v, want 1 and %v", i, looks, roles, want)
		}
	}
}
