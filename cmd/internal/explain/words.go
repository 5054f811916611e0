package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/warptune/warptune/simengine/timing"
)

// unitWords are timing's bounds in words.
var unitWords = map[string]string{
	"issue": "instruction issue", "alu": "the integer and logic pipe (ALU)", "fma": "the fp32 multiply-add pipe (FMA)", "imad": "the integer multiply-add pipe (IMAD)", "fp64": "the fp64 pipe",
	"half": "the half-precision pipe", "tensor": "the tensor cores", "xu": "the special-function unit",
	"lsu": "L1 and shared memory (load/store unit)", "texture": "the texture unit", "constant": "the constant cache", "l2": "L2 bandwidth", "atomics": "atomics in L2", "dram": "DRAM bandwidth",
	"launch": "the rate at which CTAs are launched",
}

// UnitWords is a unit that may bound, in words.
func UnitWords(name string) string {
	if words, ok := unitWords[name]; ok {
		return words
	}
	return name
}

// stallWords are stall reasons in words, as what is waited for.
var stallWords = map[string]string{
	"wait": "results of arithmetic", "short_scoreboard": "shared memory or the special-function unit", "long_scoreboard": "data from L1, L2 or DRAM", "imc_miss": "constants",
	"lg_throttle": "room in the queue of global and local memory", "mio_throttle": "room in the queue of shared memory and the special-function unit", "math_pipe_throttle": "a busy arithmetic pipe",
	"barrier": "other warps at a barrier", "wgmma": "warpgroup products (wgmma)", "membar": "a memory fence", "branch_resolving": "a branch", "no_instruction": "the next instruction",
}

// SlotWords is what became of issue slots, in words, with Nsight Compute's name for the reason.
func SlotWords(name string) string {
	switch words, ok := stallWords[name]; {
	case name == "issued":
		return "an instruction was issued"
	case name == "idle":
		return "no warp was there: CTAs had ended, and either their writes were not yet taken or no other had begun"
	case ok:
		return "waiting for " + words + " (" + name + ")"
	}
	return name
}

// BoundWords is an outcome's bound ("dram", "latency (long_scoreboard)") in words.
func BoundWords(bound string) string {
	name, stall, _ := strings.Cut(bound, " (")
	if name != "latency" {
		return UnitWords(name)
	}
	if words := stallWords[strings.TrimSuffix(stall, ")")]; words != "" {
		return "latency, waiting for " + words
	}
	return "latency"
}

// unitShort are units in a word, for columns of tables.
var unitShort = map[string]string{
	"alu": "ALU", "fma": "FMA", "imad": "IMAD", "xu": "SFU", "lsu": "L1/shared", "l2": "L2", "dram": "DRAM",
}

// BoundShort is an outcome's bound in a word, without what latency waits for.
func BoundShort(bound string) string {
	name, _, _ := strings.Cut(bound, " (")
	if short, ok := unitShort[name]; ok {
		return short
	}
	return name
}

// grouped is a number with commas between thousands.
func grouped(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// percent is a share in percent. What is below the share from which on a unit binds does not read as if it were not.
func percent(share float64) string {
	if share < timing.BoundFrom && math.Round(100*share) >= 100*timing.BoundFrom {
		return fmt.Sprintf("%.1f %%", math.Floor(1000*share)/10)
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}
