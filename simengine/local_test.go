package simengine_test

import (
	"fmt"
	"testing"

	"github.com/warptune/warptune/simengine"
)

// rewriting is a kernel that clears a private array and then adds to each word of it in turn,
// steps times. Its loops stay, so that no word is at a known place and the array in memory.
func rewriting(words int) string {
	return kernel("", fmt.Sprintf(`
	.local .align 4 .b8 frame[%d];
	mov.f32 %%f0, 0f00000000;
	mov.u64 %%rd10, frame;
	mov.u32 %%r11, 0;
clear:
	.pragma "nounroll";
	mul.wide.u32 %%rd11, %%r11, 4;
	add.s64 %%rd12, %%rd10, %%rd11;
	st.local.f32 [%%rd12], %%f0;
	add.s32 %%r11, %%r11, 1;
	setp.lt.u32 %%p1, %%r11, %d;
	@%%p1 bra clear;
	mov.u32 %%r10, 0;
round:
	mov.u32 %%r11, 0;
word:
	.pragma "nounroll";
	mul.wide.u32 %%rd11, %%r11, 4;
	add.s64 %%rd12, %%rd10, %%rd11;
	ld.local.f32 %%f1, [%%rd12];
	add.f32 %%f1, %%f1, 0f3F800000;
	st.local.f32 [%%rd12], %%f1;
	add.s32 %%r11, %%r11, 1;
	setp.lt.u32 %%p1, %%r11, %d;
	@%%p1 bra word;
	add.s32 %%r10, %%r10, 1;
	setp.lt.u32 %%p2, %%r10, %%r2;
	@%%p2 bra round;
	ld.local.f32 %%f0, [%%rd10];`, 4*words, words, words))
}

// What is stored to local memory again and again is written back when a CTA's place is
// taken over at most, however often it was stored; all of it, where it does not stay in L2.
func TestRewrittenLocalMemory(t *testing.T) {
	const threads, waves = 256, 4
	for _, tt := range []struct {
		on          string
		words       int
		ctas        int // four waves
		least, most float64
	}{
		{"h200", 16, 132 * 8 * waves, -0.1, 0},                // 17 MB of threads that run, of 60 MB: what out takes stays, too
		{"rtx2080ti", 16, 68 * 4 * waves, 0, 1.05},            // 4.4 MB of 5.5
		{"rtx2080ti", 64, 68 * 4 * waves, 21 * 0.4, 21 * 0.9}, // 18 MB; at level cycle as much as DRAM can in the time
	} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			r, err := simulate(t, rewriting(tt.words), tt.on, launch{ctas: tt.ctas, threads: threads, steps: 20, level: level})
			if err != nil {
				t.Fatal(err)
			}
			frames := float64(tt.ctas * threads * 4 * tt.words)
			output := float64(tt.ctas * threads * 4)
			m := r.Metrics
			if stored := m["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] * 32; stored < 20*frames || stored > 22*frames {
				t.Errorf("%s, %d words, %v: %.0f bytes stored to %.0f of local memory, 21 times", tt.on, tt.words, level, stored, frames)
			}
			if got := (m["dram__bytes_write.sum"] - output) / frames; got < tt.least || got > tt.most {
				t.Errorf("%s, %d words, %v: DRAM writes local memory %.2f times, want %v to %v", tt.on, tt.words, level, got, tt.least, tt.most)
			}
		}
	}
}

// Warps' local memory lies side by side: as much as fits L1 is found there, whatever the CTAs.
func TestLocalMemoryFillsL1(t *testing.T) {
	for _, threads := range []int{32, 64, 128, 256, 512} {
		for _, level := range []simengine.Level{simengine.Cycle, simengine.Model} {
			// 32 KB of 64 where as many threads run as can.
			r, err := simulate(t, rewriting(8), "rtx2080ti", launch{ctas: 68 * 4096 / threads, threads: threads, steps: 20, level: level})
			if err != nil {
				t.Fatal(err)
			}
			loads := r.Metrics["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"]
			if got := r.Metrics["lts__t_sectors_op_read.sum"] / loads; got > 0.1 {
				t.Errorf("%d threads, %v: L2 reads %.2f of what is loaded", threads, level, got)
			}
		}
	}
}
