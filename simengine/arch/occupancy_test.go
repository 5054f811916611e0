package arch_test

import (
	"errors"
	"os"
	"testing"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/arch"
)

const counters = "../../../shared/silicon/h200/counters.jsonl.gz"

// profiled is one record of the profiled launches.
type profiled struct {
	Kernel    string
	Params    map[string]any
	Registers int
	Static    int    `json:"static_smem"`
	Dynamic   int    `json:"dynamic_smem"`
	Block     [3]int `json:"block"`
	Grid      [3]int `json:"grid"`
	Counters  map[string]struct{ Value float64 }
}

// TestProfiledLaunches compares occupancy limits and the carve-out with what the
// profiler read from real launches: every one must agree.
func TestProfiledLaunches(t *testing.T) {
	if _, err := os.Stat(counters); err != nil {
		t.Skipf("no profiled launches here: %v", err)
	}
	launches, err := results.Read[profiled](counters)
	if err != nil {
		t.Fatal(err)
	}
	d := load(t, "h200")
	for n := range launches {
		compare(t, d, n, &launches[n])
	}
	if n := len(launches); n != 144 {
		t.Errorf("compared %d launches, expected 144", n)
	}
}

func compare(t *testing.T, d *arch.Descriptor, n int, r *profiled) {
	k := arch.Kernel{Threads: r.Block[0] * r.Block[1] * r.Block[2], Registers: r.Registers, Shared: r.Static + r.Dynamic}
	if err := arch.CheckLaunch(d, r.Grid, r.Block, k); err != nil {
		t.Errorf("%d %s: a launch that ran is refused: %v", n, r.Kernel, err)
		return
	}
	percent := arch.DriverCarveOut
	if p, ok := r.Params["smem_carveout"].(float64); ok {
		percent = int(p)
	}
	carveOut, err := arch.ChooseCarveOut(d, k, percent)
	if err != nil {
		t.Fatal(err)
	}
	o, err := arch.Occupy(d, k, carveOut)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]int{
		"launch__shared_mem_config_size":     o.CarveOut,
		"launch__occupancy_limit_registers":  o.ByRegisters,
		"launch__occupancy_limit_shared_mem": o.ByShared,
		"launch__occupancy_limit_warps":      o.ByWarps,
		"launch__occupancy_limit_blocks":     o.ByCTAs,
	} {
		if want := int(r.Counters[name].Value); got != want {
			t.Errorf("%d %s %+v carve-out %d%%: %s is %d, profiler says %d", n, r.Kernel, k, percent, name, got, want)
		}
	}
}

func load(t testing.TB, name string) *arch.Descriptor {
	t.Helper()
	d, err := arch.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOccupancyTable(t *testing.T) {
	tests := []struct {
		arch    string
		kernel  arch.Kernel
		percent int
		threads int // resident
		limiter arch.Limiter
	}{
		{"h200", arch.Kernel{Threads: 256, Registers: 32}, -1, 2048, arch.LimiterWarps},
		{"h200", arch.Kernel{Threads: 256, Registers: 64}, -1, 1024, arch.LimiterRegisters},
		{"h200", arch.Kernel{Threads: 256, Registers: 255}, -1, 256, arch.LimiterRegisters},
		{"h200", arch.Kernel{Threads: 32, Registers: 255}, -1, 256, arch.LimiterRegisters},
		{"h200", arch.Kernel{Threads: 32, Registers: 16}, -1, 1024, arch.LimiterCTAs},
		{"h200", arch.Kernel{Threads: 128, Registers: 32, Shared: 49152}, 100, 4 * 128, arch.LimiterShared},
		{"t4", arch.Kernel{Threads: 128, Registers: 32}, -1, 1024, arch.LimiterWarps},
		{"rtx3090", arch.Kernel{Threads: 256, Registers: 32}, -1, 1536, arch.LimiterWarps},
		{"k40", arch.Kernel{Threads: 64, Registers: 32}, -1, 16 * 64, arch.LimiterCTAs},
		{"p100", arch.Kernel{Threads: 256, Registers: 32, Shared: 32768}, -1, 512, arch.LimiterShared},
		{"v100", arch.Kernel{Threads: 256, Registers: 32, Shared: 98304}, -1, 256, arch.LimiterShared},
	}
	for _, test := range tests {
		d := load(t, test.arch)
		carveOut, err := arch.ChooseCarveOut(d, test.kernel, test.percent)
		if err != nil {
			t.Fatal(err)
		}
		o, err := arch.Occupy(d, test.kernel, carveOut)
		if err != nil {
			t.Fatal(err)
		}
		if o.CTAs*test.kernel.Threads != test.threads || o.Limiter != test.limiter {
			t.Errorf("%s %+v: %d threads by %v, want %d by %v", test.arch, test.kernel, o.CTAs*test.kernel.Threads, o.Limiter, test.threads, test.limiter)
		}
		if d.UnifiedL1 > 0 && o.L1Bytes+o.CarveOut != d.UnifiedL1 {
			t.Errorf("%s %+v: L1 %d and carve-out %d are not the unified %d", test.arch, test.kernel, o.L1Bytes, o.CarveOut, d.UnifiedL1)
		}
	}
}

// TestOccupancyMonotone: asking for more of anything never makes more CTAs fit,
// and a larger carve-out never fewer.
func TestOccupancyMonotone(t *testing.T) {
	for _, name := range arch.Names() {
		d := load(t, name)
		for threads := 32; threads <= d.MaxThreadsPerCTA; threads += 96 {
			last := 1 << 30
			for registers := 8; registers <= 255; registers += 13 {
				o, err := arch.Occupy(d, arch.Kernel{Threads: threads, Registers: registers}, 0)
				if err != nil {
					break
				}
				if o.CTAs > last || o.CTAs < 1 || o.Warps > d.MaxWarps || o.Theoretical > 1 {
					t.Fatalf("%s %d threads %d registers: %+v after %d CTAs", name, threads, registers, o, last)
				}
				last = o.CTAs
			}
			for i, size := range d.CarveOuts[1:] {
				k := arch.Kernel{Threads: threads, Registers: 16, Shared: 5000}
				less, err1 := arch.Occupy(d, k, d.CarveOuts[i])
				more, err2 := arch.Occupy(d, k, size)
				if err1 != nil || err2 != nil || less.CTAs > more.CTAs || less.L1Bytes < more.L1Bytes {
					t.Fatalf("%s %d threads: carve-out %d gives %+v, %d gives %+v (%v %v)", name, threads, d.CarveOuts[i], less, size, more, err1, err2)
				}
			}
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	d := load(t, "h200")
	tests := []struct {
		grid, block [3]int
		kernel      arch.Kernel
		limit       arch.Limit
	}{
		{[3]int{1, 1, 1}, [3]int{1024, 2, 1}, arch.Kernel{Threads: 2048}, arch.LimitThreads},
		{[3]int{1, 1, 1}, [3]int{1, 1, 128}, arch.Kernel{Threads: 128}, arch.LimitBlock},
		{[3]int{1, 70000, 1}, [3]int{32, 1, 1}, arch.Kernel{Threads: 32}, arch.LimitGrid},
		{[3]int{0, 1, 1}, [3]int{32, 1, 1}, arch.Kernel{Threads: 32}, arch.LimitGrid},
		{[3]int{1, 1, 1}, [3]int{32, 1, 1}, arch.Kernel{Threads: 32, Shared: 232449}, arch.LimitShared},
		{[3]int{1, 1, 1}, [3]int{32, 1, 1}, arch.Kernel{Threads: 32, Shared: 49153, Static: 49153}, arch.LimitStatic},
		{[3]int{1, 1, 1}, [3]int{1024, 1, 1}, arch.Kernel{Threads: 1024, Registers: 72}, arch.LimitRegisters},
		{[3]int{1, 1, 1}, [3]int{32, 1, 1}, arch.Kernel{Threads: 32, Registers: 256}, arch.LimitRegisters},
	}
	for _, test := range tests {
		err := arch.CheckLaunch(d, test.grid, test.block, test.kernel)
		var e *arch.LaunchError
		if !errors.As(err, &e) || e.Limit != test.limit {
			t.Errorf("%v %v %+v: %v, want the limit %v", test.grid, test.block, test.kernel, err, test.limit)
		}
	}
	if err := arch.CheckLaunch(d, [3]int{1 << 30, 1, 1}, [3]int{1024, 1, 1}, arch.Kernel{Threads: 1024, Registers: 64, Shared: 232448}); err != nil {
		t.Errorf("the largest launch is refused: %v", err)
	}
}
