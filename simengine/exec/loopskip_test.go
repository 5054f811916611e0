package exec

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/warptune/warptune/simengine/ir"
)

// event is one call of an Observer.
type event struct {
	block  int // -1 for an access
	repeat int64
	mask   uint32
	pc     int
	space  ir.Space
	width  int
	addr   [WarpSize]uint64
}

// journal keeps the events of each warp.
type journal struct{ warps map[int][]event }

func newJournal() *journal { return &journal{map[int][]event{}} }

func (j *journal) Restart() { clear(j.warps) }

func (j *journal) Step(w, block int, mask uint32) {
	j.warps[w] = append(j.warps[w], event{block: block, mask: mask})
}

func (j *journal) Repeat(w, block int, n int64) {
	j.warps[w] = append(j.warps[w], event{block: block, repeat: n})
}

func (j *journal) Access(w, pc int, space ir.Space, width int, mask uint32, addr *[WarpSize]uint64) {
	e := event{block: -1, mask: mask, pc: pc, space: space, width: width}
	for l := range addr {
		if mask>>l&1 == 1 {
			e.addr[l] = addr[l]
		}
	}
	j.warps[w] = append(j.warps[w], e)
}

// cutMatches checks that sampled is full with the repeated iterations cut.
func cutMatches(full, sampled []event) error {
	pos := 0
	for i, e := range sampled {
		if e.repeat == 0 {
			if pos >= len(full) || full[pos] != e {
				return fmt.Errorf("event %d: %+v differs from event %d of the full trace", i, e, pos)
			}
			pos++
			continue
		}
		// The next full event enters the header; pass it repeat times.
		for n := e.repeat; ; pos++ {
			if pos >= len(full) {
				return fmt.Errorf("event %d: the full trace ends within %d iterations", i, e.repeat)
			}
			if full[pos].block == e.block {
				if n == 0 {
					break
				}
				n--
			}
		}
	}
	if pos != len(full) {
		return fmt.Errorf("the full trace goes on: %d events of %d", pos, len(full))
	}
	return nil
}

// runJournal runs one CTA and returns its events.
func runJournal(t testing.TB, p *problem, prog *Program, cta int64, opt Options) *journal {
	t.Helper()
	p.mem.Reset()
	j := newJournal()
	if err := NewRunner(prog).Run(p.launch, p.mem, cta, opt, j); err != nil {
		t.Fatal(err)
	}
	return j
}

// TestSampledTraces checks, for every kind of kernel in the dataset, that
// Slice mode sees what Full mode sees and that sampling cuts out whole
// iterations and nothing else.
func TestSampledTraces(t *testing.T) {
	sizes := map[string][]int{"sgemm": {256}, "fat_threads": {2048, 32}, "compute_bound": {2000, 64}}
	seen := map[string]int{}
	done := map[string]bool{}
	repeats := map[string]int{}
	for _, archive := range []struct{ records, ptx string }{{"timings.jsonl.gz", "ptx.zip"}, {"timings-clang.jsonl.gz", "ptx-clang.zip"}} {
		clear(done)
		clear(seen)
		for _, rec := range records(t, archive.records) {
			if done[rec.PTX] || !fits(&rec) {
				continue
			}
			done[rec.PTX] = true
			if seen[rec.Kernel]++; seen[rec.Kernel]%17 != 1 || seen[rec.Kernel] > 120 {
				continue
			}
			name := archive.ptx + "/" + rec.PTX
			k := buildKernel(t, rec.PTX+".ptx", ptxFile(t, archive.ptx, rec.PTX))
			size := sizes[rec.Kernel]
			if size == nil {
				size = small[rec.Kernel]
			}
			p := setUp(t, k, rec.Kernel, size, rec.Params, rec.Block)
			full := runJournal(t, p, compileFor(t, k, Full), 1, Options{})
			slice := compileFor(t, k, Slice)
			if all := runJournal(t, p, slice, 1, Options{}); !reflect.DeepEqual(all.warps, full.warps) {
				t.Errorf("%s: slice and full traces differ", name)
				continue
			}
			sampled := runJournal(t, p, slice, 1, Options{LoopSample: 3})
			for w := range full.warps {
				if err := cutMatches(full.warps[w], sampled.warps[w]); err != nil {
					t.Errorf("%s warp %d: %v", name, w, err)
					break
				}
				for _, e := range sampled.warps[w] {
					if e.repeat > 0 {
						repeats[rec.Kernel]++
					}
				}
			}
			if testing.Verbose() {
				for _, l := range slice.Loops {
					t.Logf("%s: loop at block %d: %s", name, l.Head, strings.TrimSpace(l.Obstacle))
				}
			}
		}
	}
	for _, kernel := range []string{"sgemm", "fat_threads", "compute_bound"} {
		if repeats[kernel] == 0 {
			t.Errorf("no loop of %s was sampled", kernel)
		}
	}
	t.Log(repeats)
}
