// Package pagetest has what tests of the page and work on its front end put in place of a coordinator: sweeps of any size
// whose results a formula gives. It is used by tests and by pagetest/serve only.
package pagetest

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/warptune/warptune/search"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/page"
)

//go:embed testdata/explain.json.gz
var explainDocument []byte

// Source is a page.Source of synthetic sweeps.
type Source struct {
	Now    func() time.Time
	Start  time.Time
	Sizes  map[string]int64 // configurations by sweep
	Order  []string         // of sweeps, newest first
	Live   string           // the sweep that is under way: a configuration each 20 ms since Start, over again when it ends
	ArchOf map[string]string

	mu    sync.Mutex
	ended map[string]tuner.Sweep // states that do not change
}

// New has a sweep of the rows given, one of 374 on two architectures, and one that is under way.
func New(rows int64, now func() time.Time) *Source {
	return &Source{
		Now: now, Start: now(), Order: []string{"live0000000000aa", "large000000000bb", "small000000000cc", "other000000000dd", "measd000000000ee"}, Live: "live0000000000aa",
		Sizes:  map[string]int64{"live0000000000aa": 3000, "large000000000bb": rows, "small000000000cc": 374, "other000000000dd": 374, "measd000000000ee": 53},
		ArchOf: map[string]string{"other000000000dd": "a100"},
		ended:  map[string]tuner.Sweep{},
	}
}

var names = []string{"BLOCK_X", "BLOCK_Y", "TILE", "UNROLL", "PAD", "USE_SHARED", "MAX_REGISTERS"}

var values = [][]search.Value{
	search.Ints(8, 16, 32, 64, 128, 256), search.Ints(1, 2, 4, 8, 16), search.Ints(1, 2, 3, 4, 6, 8, 12, 16, 24, 32), search.Ints(1, 2, 4, 8),
	search.Ints(0, 1, 2, 4), {search.OfBool(false), search.OfBool(true)}, search.Ints(0, 24, 32, 40, 48, 64, 80, 96, 128, 168, 255),
}

// config is the configuration of a trial.
func config(trial int64) []search.Value {
	out := make([]search.Value, len(names))
	n := uint64(trial) * 0x9E3779B97F4A7C15 >> 20
	for i, v := range values {
		out[i] = v[n%uint64(len(v))]
		n /= uint64(len(v))
	}
	return out
}

// Name is in page.Source.
func (s *Source) Name() string { return "synthetic sweeps" }

// Engine is in page.Source.
func (s *Source) Engine() string { return "1-synthetic" }

// done is how many trials of a sweep have ended.
func (s *Source) done(id string) int64 {
	if id != s.Live {
		return s.Sizes[id]
	}
	return s.Now().Sub(s.Start).Milliseconds() / 20 % (s.Sizes[id] + 500)
}

// Sweep is in page.Source.
func (s *Source) Sweep(_ context.Context, id string) (tuner.Sweep, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.ended[id]; ok {
		return t, nil
	}
	t, err := s.sweep(id)
	if err == nil && id != s.Live {
		s.ended[id] = t
	}
	return t, err
}

func (s *Source) sweep(id string) (tuner.Sweep, error) {
	size, ok := s.Sizes[id]
	if !ok {
		return tuner.Sweep{}, tuner.Errorf(tuner.NotFound, "sweep", "there is no sweep %.100q", id)
	}
	arch := s.ArchOf[id]
	if arch == "" {
		arch = "h200"
	}
	t := tuner.Sweep{
		ID: id, Names: names, State: tuner.Completed, Submitted: s.Start.Add(-time.Hour), Ended: s.Start.Add(-time.Minute), Proof: tuner.Proof{Gap: -1},
		Spec: tuner.Spec{Kernel: "synthetic_" + id[:5], Arch: arch, Problem: []int64{8192}, Strategy: "exhaustive", Level: "cycle", Engine: s.Engine()},
	}
	if id[:5] == "other" || id == Measured {
		t.Spec.Kernel = "synthetic_small"
	}
	if id == Measured {
		t.Spec.Level, t.Spec.Engine = tuner.LevelMeasured, tuner.MeasuringEngine+"1"
	}
	done := min(s.done(id), size)
	t.Counts = tuner.Counts{Space: size, Total: size, Asked: size, Done: done}
	if id == s.Live && done < size {
		t.State, t.Ended, t.Rate, t.TimeLeft, t.Workers = tuner.Running, time.Time{}, 50, 90*time.Second, 2
		t.Counts.Leased = min(16, size-done)
		t.Counts.Queued = size - done - t.Counts.Leased
	}
	for trial := range done {
		r := s.result(id, trial)
		if r.Abandoned {
			t.Counts.Abandoned++
			t.Counts.Done--
			continue
		}
		t.Counts.ByValidity[r.Outcome.Validity]++
		if r.Outcome.Validity != tuner.Correct {
			if t.Counts.ByValidity[r.Outcome.Validity] == 1 {
				t.Examples = append(t.Examples, tuner.Example{Kind: r.Outcome.Validity.String(), Seq: trial, Message: r.Outcome.Message, Config: search.Config{Names: names, Values: r.Values}.String()})
			}
		} else if t.Best == nil || r.Less(t.Best) {
			best := r.Result
			t.Best, t.BestValues = &best, r.Values
		}
	}
	return t, nil
}

// Sweeps is in page.Source.
func (s *Source) Sweeps(ctx context.Context) (all []tuner.Sweep, damaged int, err error) {
	for _, id := range s.Order {
		t, err := s.Sweep(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, t)
	}
	return all, 0, nil
}

// Workers is in page.Source.
func (s *Source) Workers(context.Context) ([]tuner.WorkerStatus, error) {
	return []tuner.WorkerStatus{
		{Worker: tuner.Worker{ID: "node1/4242", Slots: 8, Engine: s.Engine(), Labels: map[string]string{"host": "node1"}}, Held: 8, Reported: s.done(s.Live) / 2},
		{Worker: tuner.Worker{ID: "node2/4243", Slots: 8, Engine: s.Engine(), Labels: map[string]string{"host": "node2"}}, Held: 8, Reported: s.done(s.Live) / 2, Silent: 3 * time.Second},
		{Worker: tuner.Worker{ID: "node3/17", Slots: 4, Engine: "1-older"}, Refused: "its simulator is 1-older, the sweep is for 1-synthetic", Silent: 12 * time.Second},
	}, nil
}

// result is what comes out of a trial.
func (s *Source) result(id string, trial int64) page.Result {
	if id == Measured {
		return measured(trial)
	}
	v := config(trial)
	r := page.Result{Result: tuner.Result{Seq: trial, Index: trial, Attempts: 1}, Values: v, Level: "cycle"}
	r.Outcome = outcome(v, s.ArchOf[id] == "a100")
	if trial%997 == 996 {
		r.Abandoned, r.Attempts = true, 5
		r.Outcome = tuner.Outcome{Message: "5 workers were lost or failed at it; the last, node3/17: killed (out of memory)"}
	}
	return r
}

// Measured is a sweep of which every seventh configuration of the small one was measured.
const Measured = "measd000000000ee"

// measured is what is measured of a trial: something near what is predicted.
func measured(trial int64) page.Result {
	v := config(7 * trial)
	r := page.Result{Result: tuner.Result{Seq: trial, Index: 7 * trial, Attempts: 1}, Values: v, Level: tuner.LevelMeasured}
	r.Outcome = outcome(v, false)
	r.Outcome.TimeUS *= 1.08 + 0.2*math.Sin(float64(5*trial))
	r.Outcome.Metrics, r.Outcome.Bound, r.Outcome.Device = map[string]float64{}, "", "NVIDIA H200, driver 580.95"
	return r
}

// outcome is a formula of the configuration, with traps for who draws it.
func outcome(v []search.Value, slow bool) tuner.Outcome {
	x, y, tile, unroll, pad, shared, cap := float64(v[0].I), float64(v[1].I), float64(v[2].I), float64(v[3].I), float64(v[4].I), float64(v[5].I), float64(v[6].I)
	threads := x * y
	regs := 16 + 2*tile*unroll/4 + 4*unroll
	sharedBytes := shared * 4 * (x + pad) * tile * 4
	switch {
	case threads > 1024:
		return tuner.Outcome{Validity: tuner.Constraints, Message: fmt.Sprintf("%g threads a CTA are more than 1024", threads)}
	case sharedBytes > 100<<10:
		return tuner.Outcome{Validity: tuner.Compile, Message: fmt.Sprintf("ptxas error : Entry function 'k' uses too much shared data (0x%x bytes, 0x19000 max)", int(sharedBytes))}
	case pad == 4 && tile == 3:
		return tuner.Outcome{Validity: tuner.Correctness, Message: fmt.Sprintf("race: line 14 of k.cu, threads 0 and %d of CTA 3 write shared memory at byte %d without a barrier between", int(x)-1, int(4*x*pad))}
	}
	spill := 0.0
	if cap > 0 && cap < regs {
		spill, regs = 4*(regs-cap), cap
	}
	ctas := math.Floor(math.Min(math.Min(65536/(math.Max(regs, 16)*threads), 2048/threads), 32))
	if sharedBytes > 0 {
		ctas = math.Min(ctas, math.Floor(228*1024/(sharedBytes+1024)))
	}
	ctas = max(ctas, 1)
	occ := math.Min(ctas*threads/2048, 1)
	conflicts := 1.0
	if shared > 0 && pad == 0 && x >= 32 {
		conflicts = 4
	}
	dram := 536870912 * (1 + (1-shared)*0.6/math.Sqrt(tile)) * (1 + spill/200)
	instr := 2e7 * (1 + 3/tile/unroll) * (1 + spill/60)
	peak, issue := 4.8e12, 132*4*1.755e9
	if slow {
		peak, issue = 1.56e12, 108*4*1.41e9
	}
	tDRAM := dram / peak / (0.35 + 0.65*math.Min(1, occ*unroll/1.2))
	tIssue := instr / issue * 3
	tShared := shared * conflicts * 6e6 / (132 * 1.755e9) * 4
	gpu := 1e6 * (math.Max(tDRAM, math.Max(tIssue, tShared)) + 0.15*(tDRAM+tIssue+tShared))
	bound := "dram"
	if tShared > tDRAM {
		bound = "lsu"
	} else if tIssue > tDRAM {
		bound = "issue"
	} else if occ < 0.3 {
		bound = "latency"
	}
	limiter := "warps"
	if sharedBytes > 0 && ctas == math.Floor(228*1024/(sharedBytes+1024)) {
		limiter = "shared_mem"
	} else if occ < 1 {
		limiter = "registers"
	}
	o := tuner.Outcome{
		Validity: tuner.Correct, TimeUS: gpu + 1.44, Registers: int(regs), SpillBytes: int(spill), Shared: int(sharedBytes), CarveOut: 135168, Occupancy: occ,
		Limiter: limiter, Bound: bound, Compiler: "synthetic", FloorUS: gpu / 2, Checked: tuner.Checked{CTAs: 5, Of: 16384, For: "bounds, barriers"},
	}
	share := func(t float64) float64 { return 100 * t * 1e6 / gpu }
	o.Metrics = map[string]float64{
		"warptune__flop_fp32.sum": 2 * 8192 * 8192 * tile,
		"gpu__time_duration.sum":  gpu * 1000, "dram__bytes_read.sum": dram / 2, "dram__bytes_write.sum": dram / 2, "warptune__sampling_error": 0.01,
		"dram__throughput.avg.pct_of_peak_sustained_elapsed": share(dram / peak), "smsp__issue_active.avg.pct_of_peak_sustained_active": share(tIssue / 3),
		"lts__t_sectors_op_read.sum": dram / 40, "lts__t_sectors_op_write.sum": dram / 64, "l1tex__m_xbar2l1tex_read_bytes.sum": dram * 0.6, "l1tex__m_l1tex2xbar_write_bytes.sum": dram / 2, "l1tex__data_pipe_lsu_wavefronts.sum": 4e6 + shared*conflicts*6e6,
		"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum": shared * conflicts * 6e6, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": shared * (conflicts - 1) * 6e6,
		"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum": 0, "smsp__inst_executed.sum": instr, "smsp__thread_inst_executed.sum": 31.5 * instr,
		"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": dram / 64, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": dram / 256,
		"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": dram / 64, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": dram / 256,
		"l1tex__t_sector_hit_rate.pct": 100 * (1 - shared) * 0.3, "lts__t_sector_hit_rate.pct": 50, "launch__waves_per_multiprocessor": 16384 / ctas / 132,
		"launch__shared_mem_config_size": 135168, "launch__occupancy_limit_blocks": 32, "launch__occupancy_limit_registers": ctas, "launch__occupancy_limit_shared_mem": 32, "launch__occupancy_limit_warps": 2048 / threads,
		"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum": spill * 1e4, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": spill * 1e4,
		"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 8 * occ, "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": shared,
		"smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio": conflicts, "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": 1.2,
	}
	return o
}

// Results is in page.Source.
func (s *Source) Results(_ context.Context, id string, from, limit int64, _ []string, take func(*page.Batch) error) error {
	size, ok := s.Sizes[id]
	if !ok {
		return tuner.Errorf(tuner.NotFound, "results", "there is no sweep %.100q", id)
	}
	done := min(s.done(id), size)
	if limit > 0 {
		done = min(done, from+limit)
	}
	const batch = 1000
	for from < done {
		b := page.Batch{Names: names}
		for ; from < done && len(b.Results) < batch; from++ {
			b.Results = append(b.Results, s.result(id, from))
		}
		if err := take(&b); err != nil {
			return err
		}
	}
	return nil
}

// Device is in page.Source.
func (s *Source) Device(_ context.Context, t *tuner.Sweep) (*page.Device, error) {
	d := &page.Device{
		Arch: page.Arch{
			Name: "h200", Title: "NVIDIA H200 SXM", Capability: "9.0", SMs: 132, ClockMHz: 1980, RegistersPerSM: 65536, MaxThreadsPerCTA: 1024, MaxWarpsPerSM: 64,
			MaxCTAsPerSM: 32, SharedBytesPerCTA: 232448, CarveOutsBytes: []int{0, 8192, 16384, 32768, 65536, 102400, 135168, 167936, 200704, 233472}, L1SharedBytes: 262144, L2Bytes: 52428800, DRAMBytes: 151397597184,
			Memory:  []page.Peak{{Unit: "DRAM", PerSecond: 4.814304e12, Of: "bytes"}, {Unit: "L2", PerSecond: 1.00089e13, Of: "bytes"}, {Unit: "L1 and shared memory", PerSecond: 3.345408e13, Of: "bytes"}},
			Compute: []page.Peak{{Unit: "issue", PerSecond: 1.04544e12, Of: "warp instructions"}, {Unit: "fp32", PerSecond: 6.690816e13, Of: "flop"}, {Unit: "fp64", PerSecond: 3.345408e13, Of: "flop"}, {Unit: "tensor cores, fp16", PerSecond: 9.9e14, Of: "flop"}},
			Figures: 200,
		},
		Expected: page.ExpectedError{Share: 0.047, Configurations: 288, Of: []string{"h200"}, Text: "4.7 %, the median error of the ratio of two predicted times at the top of a ranking (288 configurations of others' kernels, measured on h200)"},
	}
	if t.Spec.Arch == "a100" {
		d.Name, d.Title, d.Capability, d.SMs, d.ClockMHz, d.L2Bytes, d.UnverifiedFigures = "a100", "NVIDIA A100 SXM", "8.0", 108, 1410, 41943040, 120
		d.Memory[0].PerSecond, d.Memory[1].PerSecond, d.Memory[2].PerSecond = 1.555e12, 7.2e12, 1.95e13
		d.Compute = d.Compute[:3]
		d.Caution = "120 of the 200 figures of a100 are not verified (warptune archs a100)"
	}
	d.Ties = func(over float64, sampling ...float64) bool {
		share := d.Expected.Share
		for _, v := range sampling {
			share = math.Hypot(share, v)
		}
		return over <= 1+share
	}
	d.Use = func(o *tuner.Outcome) []page.NamedNumber {
		return []page.NamedNumber{
			{Name: "dram", Value: o.Metrics["dram__throughput.avg.pct_of_peak_sustained_elapsed"] / 100}, {Name: "l2", Value: 0.3}, {Name: "lsu", Value: 0.2},
			{Name: "issue", Value: o.Metrics["smsp__issue_active.avg.pct_of_peak_sustained_active"] / 100},
		}
	}
	return d, nil
}

// Explain is in page.Source: the configurations of a real document, whatever was asked.
func (s *Source) Explain(_ context.Context, _ *tuner.Sweep, configs []search.Config) (*page.Explained, error) {
	if len(configs) > 2 {
		return nil, tuner.Errorf(tuner.Mismatch, "explain", "synthetic sweeps explain two configurations at most")
	}
	plain, err := gzip.NewReader(bytes.NewReader(explainDocument))
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := json.NewDecoder(plain).Decode(&doc); err != nil {
		return nil, err
	}
	all, _ := doc["configurations"].([]any)
	doc["configurations"] = all[:len(configs)]
	if len(configs) < 2 {
		delete(doc, "comparisons")
	}
	text, err := json.Marshal(doc)
	x := &page.Explained{Document: text}
	for range configs {
		x.Details = append(x.Details, page.Detail{
			Grid: [3]int64{256, 256, 1}, Block: [3]int64{32, 8, 1}, PTX: "// the PTX\n", Sentences: []page.Statement{},
			Sources:   []page.SourceFile{{Name: "transpose_tiled.cu", Text: source}},
			Occupancy: occupancy(256, 32, 4096),
		})
	}
	return x, err
}

const source = `// Tiled transpose through shared memory; PAD columns are added to each tile row.
extern "C" __global__ void transpose_tiled(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float tile[TILE][TILE + PAD];
  int x = blockIdx.x * TILE + threadIdx.x;
  int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < TILE; j += ROWS)
    tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * n + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
  for (int j = 0; j < TILE; j += ROWS)
    out[(size_t)(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
`

// occupancy is a rough one.
func occupancy(threads, registers, shared int) *page.Occupancy {
	at := func(threads, registers, shared int) (int, string) {
		byWarps, byRegisters, byShared := 2048/threads, 65536/(max(registers, 16)*threads), 233472/(shared+1024)
		n := min(byWarps, byRegisters, byShared, 32)
		switch n {
		case byWarps:
			return n, "warps"
		case 32:
			return n, "blocks"
		case byRegisters:
			return n, "registers"
		}
		return n, "shared_mem"
	}
	add := func(c *page.Curve, x, threads, registers, shared int) {
		n, limiter := at(threads, registers, shared)
		c.X, c.CTAs, c.Warps = append(c.X, x), append(c.CTAs, n), append(c.Warps, n*threads/32)
		c.Share, c.Limiter = append(c.Share, float64(n*threads)/2048), append(c.Limiter, limiter)
	}
	o := &page.Occupancy{Note: "Registers and shared memory a CTA stay as they are; the driver's choice of carve-out follows."}
	n, limiter := at(threads, registers, shared)
	o.Present = page.OccupancyPoint{Threads: threads, Registers: registers, SharedBytes: shared, CarveOutBytes: 135168, CTAs: n, Warps: n * threads / 32, Share: float64(n*threads) / 2048, Limiter: limiter}
	o.Limits = map[string]int{"warps": 2048 / threads, "blocks": 32, "registers": 65536 / (registers * threads), "shared_mem": 233472 / (shared + 1024)}
	for t := 32; t <= 1024; t += 32 {
		add(&o.ByThreads, t, t, registers, shared)
	}
	for r := 16; r <= 255; r++ {
		add(&o.ByRegisters, r, threads, r, shared)
	}
	for b := 0; b <= 232448; b += 1024 {
		add(&o.ByShared, b, threads, registers, b)
	}
	return o
}
