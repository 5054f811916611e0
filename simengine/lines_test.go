package simengine_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/simengine/ir"
)

// questioned asks an engine about a kernel of facts_test.go on an H200; change changes the question.
func questioned(t *testing.T, text string, l launch, change func(*simengine.Request)) *simengine.Report {
	t.Helper()
	d, err := arch.Load("h200")
	if err != nil {
		t.Fatal(err)
	}
	engine := simengine.New()
	module, err := engine.Parse("k.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	buffer := func(name string, seed uint64) simengine.Arg {
		return simengine.Arg{Name: name, Elem: ir.F32, Count: 1 << 24, Fill: simengine.Fill{Kind: simengine.FillRandom, Value: 1, Seed: seed}}
	}
	req := simengine.Request{
		Kernel: "k", Arch: d, Level: max(l.level, simengine.Cycle), Grid: [3]int{max(l.ctas, 1), 1, 1}, CTA: [3]int{max(l.threads, 32), 1, 1}, CarveOut: -1,
		MaxRegisters: l.maxRegisters, DynamicShared: l.shared, Constants: l.constants,
		Args: []simengine.Arg{buffer("in", 1), buffer("out", 2), {Name: "steps", Elem: ir.U32, Scalar: true, Bits: uint64(l.steps)}},
	}
	change(&req)
	r, err := engine.Simulate(module, req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// located gives the body of a kernel lines: of k.cu:7 and on, one for each part.
func located(parts ...string) string {
	var sb strings.Builder
	for i, part := range parts {
		sb.WriteString("\n\t.loc\t1 " + string(rune('0'+7+i)) + " 0\n\t" + part)
	}
	return sb.String()
}

func asking(r *simengine.Request) { r.Lines = true }

// What lines do adds up to the counters of the launch, and asking changes nothing else, whether or not iterations of a
// loop are left out.
func TestLinesAddUp(t *testing.T) {
	text := kernel("\t.file\t1 \"k.cu\"\n.shared .align 4 .b8 tile[8192];", located(`
	mov.f32 %f0, 0f00000000;
	mov.u32 %r20, 0;
	shl.b32 %r21, %r0, 7;
	and.b32 %r21, %r21, 8191;
	mov.u32 %r22, tile;
	add.s32 %r21, %r21, %r22;
again:
	mad.lo.s32 %r10, %r20, 65536, %r1;
	shl.b32 %r10, %r10, 3;
	and.b32 %r10, %r10, 16777215;`, `
	mul.wide.s32 %rd10, %r10, 4;
	add.s64 %rd11, %rd1, %rd10;
	ld.global.f32 %f1, [%rd11];`, `
	st.shared.f32 [%r21], %f1;`, `
	add.f32 %f0, %f0, %f1;
	add.s32 %r20, %r20, 1;
	setp.lt.u32 %p1, %r20, %r2;
	@%p1 bra again;`))
	for _, steps := range []int{1, 2, 100} {
		l := launch{ctas: 400, threads: 64, steps: steps}
		plain, lines := questioned(t, text, l, func(*simengine.Request) {}), questioned(t, text, l, asking)
		if plain.Lines != nil || len(lines.Lines) < 4 {
			t.Fatalf("%d steps: %d lines not asked for, %d asked for", steps, len(plain.Lines), len(lines.Lines))
		}
		sum := map[string]float64{}
		for _, line := range lines.Lines {
			sum["smsp__inst_executed.sum"] += line.WarpInstructions
			sum["smsp__thread_inst_executed.sum"] += line.ThreadInstructions
			for _, m := range line.Memory {
				if m.Kind == "global load" {
					sum[requests] += m.Requests
					sum[sectors] += m.Sectors
				}
				if m.Kind == "shared store" {
					sum["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] += m.Wavefronts - m.IdealWavefronts
				}
			}
			if line.Line == "k.cu:8" && (line.Memory[0].Sectors != 8*line.Memory[0].IdealSectors || line.StallShare <= 0) {
				t.Errorf("%d steps: %+v", steps, line)
			}
		}
		for name, v := range sum {
			if want := lines.Metrics[name]; math.Abs(v-want) > 1e-6*want {
				t.Errorf("%d steps: %s is %g, and %g of all lines", steps, name, want, v)
			}
		}
		lines.Lines = nil
		plain.Execution, lines.Execution = nil, nil
		if !reflect.DeepEqual(plain, lines) {
			t.Errorf("%d steps: asking for lines changes the report:\n%+v\n%+v", steps, plain, lines)
		}
	}
}
