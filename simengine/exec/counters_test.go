package exec

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/ir"
	"github.com/warptune/warptune/simengine/timing/coalesce"
	"github.com/warptune/warptune/simengine/trace"
)

// profiled is a configuration with its hardware counters.
type profiled struct {
	record
	Counters map[string]struct{ Value float64 }
}

func profiles(t testing.TB) []profiled {
	out, err := results.Read[profiled](filepath.Join(sharedDir(t), "silicon", "h200", "counters.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// counts are totals over accesses to one state space.
type counts struct{ Requests, Sectors, Passes, Ideal int64 }

// add adds n times an access.
func (c *counts) add(a *trace.Access, n int64) {
	c.Requests += n
	c.Sectors += n * int64(a.Sectors)
	c.Passes += n * int64(a.Passes)
	c.Ideal += n * int64(a.Ideal)
}

// totals are a CTA's accesses by what a counter counts.
type totals struct{ globalLoad, globalStore, sharedLoad, sharedStore counts }

// count adds up the accesses of a recorded CTA.
func (c *totals) count(k *ir.Kernel, r *coalesce.Recorder) {
	cta := r.CTA()
	var weights []int64
	for i := range cta.Warps {
		w := &cta.Warps[i]
		weights = coalesce.Weights(w, weights)
		for s := range w.Steps {
			end := len(w.Accesses)
			if s+1 < len(w.Steps) {
				end = int(w.Steps[s+1].Access)
			}
			for j := int(w.Steps[s].Access); j < end; j++ {
				a := &w.Accesses[j]
				into := &c.globalLoad
				store := k.Instrs[a.PC].Op == ir.St
				switch {
				case a.Space == ir.Global && store:
					into = &c.globalStore
				case a.Space == ir.Shared && store:
					into = &c.sharedStore
				case a.Space == ir.Shared:
					into = &c.sharedLoad
				case a.Space != ir.Global:
					continue
				}
				into.add(a, weights[s])
			}
		}
	}
}

// hardwareCounter is a counter of Nsight Compute and what it should equal.
type hardwareCounter struct {
	name string
	get  func(*totals) int64
	// slack is a tolerance besides 2 % of the value.
	slack func(*totals) float64
}

func none(*totals) float64 { return 0 }

// arbitration is what the bank conflict counters may show without conflicts:
// they also count passes lost to other data on its way through the same banks,
// up to 11 % of all wavefronts in kernels that cannot conflict.
func arbitration(c *totals) float64 {
	return 0.11 * float64(c.sharedLoad.Ideal+c.sharedStore.Ideal+c.globalLoad.Passes+c.globalStore.Passes)
}

var hardwareCounters = []hardwareCounter{
	{"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", func(c *totals) int64 { return c.globalLoad.Requests }, none},
	{"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", func(c *totals) int64 { return c.globalStore.Requests }, none},
	{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", func(c *totals) int64 { return c.globalLoad.Sectors }, none},
	{"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", func(c *totals) int64 { return c.globalStore.Sectors }, none},
	{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
		func(c *totals) int64 { return c.sharedLoad.Passes - c.sharedLoad.Ideal }, arbitration},
	{"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
		func(c *totals) int64 { return c.sharedStore.Passes - c.sharedStore.Ideal }, arbitration},
}

// strata splits a dimension of the grid into its first, last and inner
// positions and calls f with sample positions and how many each stands for.
func strata(n int, f func(at int, weight float64)) {
	f(0, 1)
	if n > 1 {
		f(n-1, 1)
	}
	if n > 2 {
		inner := min(n-2, 3)
		for i := 0; i < inner; i++ {
			f(1+(2*i+1)*(n-2)/(2*inner), float64(n-2)/float64(inner))
		}
	}
}

// estimate runs CTAs of every part of the grid and scales their totals to it.
func (p *problem) estimate(t *testing.T, counters []hardwareCounter) (values, slack []float64) {
	t.Helper()
	values, slack = make([]float64, len(counters)), make([]float64, len(counters))
	run := NewRunner(compileFor(t, p.kernel, Slice))
	trace := coalesce.NewRecorder(p.kernel, 4)
	warps := int(p.launch.CTA.Count()+WarpSize-1) / WarpSize
	strata(p.launch.Grid.X, func(x int, wx float64) {
		strata(p.launch.Grid.Y, func(y int, wy float64) {
			cta := int64(y)*int64(p.launch.Grid.X) + int64(x)
			trace.Begin(cta, warps)
			if err := run.Run(p.launch, p.mem, cta, Options{LoopSample: 4}, trace); err != nil {
				t.Fatal(err)
			}
			var c totals
			c.count(p.kernel, trace)
			for i := range counters {
				values[i] += wx * wy * float64(counters[i].get(&c))
				slack[i] += wx * wy * counters[i].slack(&c)
			}
		})
	})
	return values, slack
}

// TestCounters compares requests, sectors and bank conflicts of sampled CTAs,
// scaled to the grid, with what the hardware counted.
func TestCounters(t *testing.T) {
	for _, rec := range profiles(t) {
		k := buildKernel(t, rec.PTX+".ptx", ptxFile(t, "ptx.zip", rec.PTX))
		p := setUp(t, k, rec.Kernel, rec.ProblemSize, rec.Params, rec.Block)
		if p.launch.Grid != (Dim3{rec.Grid[0], rec.Grid[1], rec.Grid[2]}) {
			t.Fatalf("%s: grid %v, measured with %v", rec.PTX, p.launch.Grid, rec.Grid)
		}
		values, slack := p.estimate(t, hardwareCounters)
		for i, c := range hardwareCounters {
			got, want := values[i], rec.Counters[c.name].Value
			if math.Abs(got-want) <= 0.02*want+slack[i] {
				continue
			}
			if rec.Kernel == "reduce" && rec.Params["VARIANT"] == 0 && i == 4 {
				// The assembler merges s[2t] and s[2t+1] of the first step into
				// one 8-byte load without conflicts, which PTX does not say.
				continue
			}
			t.Errorf("%s %v %v: %s: %.0f, measured %.0f (%.3f)", rec.PTX, rec.Params, rec.ProblemSize, c.name, got, want, got/want)
		}
	}
}
