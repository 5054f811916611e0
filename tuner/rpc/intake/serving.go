package intake

import (
	"os"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
)

// cores is how many processors the runtime found that it may use, by the
// machine, the process's affinity, a container's limits and GOMAXPROCS.
var cores = runtime.GOMAXPROCS(0)

// Serving sets the runtime up for a process that only serves; what GOMAXPROCS
// and GOGC say in the environment stays.
func Serving() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(processors(cores))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(leastPercent)
		pace()
	}
}

// What a thousand workers' calls allocate is soon garbage. A heap of which little is alive would be collected many
// times a second, each time by more threads than there are cores. Whoever asks something meanwhile would wait for
// them, so it may grow to gcHeap in any case. Beyond that, memory is worth some time.
const (
	leastPercent = 60
	mostPercent  = 400
	gcHeap       = 80 << 20 // bytes
)

// pace sets GOGC anew after every collection.
func pace() {
	samples := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/goal:bytes"}, {Name: "/gc/gogc:percent"}}
	type collected struct{ _ *byte } // has a pointer, so that it is alone in its block
	var again func(*collected)
	again = func(*collected) {
		runtimemetrics.Read(samples)
		live, goal, old := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()
		if p := percent(live, goal, old); p > old+old/8 || p < old-old/8 {
			debug.SetGCPercent(int(p))
		}
		runtime.SetFinalizer(&collected{}, again)
	}
	runtime.SetFinalizer(&collected{}, again)
}

// percent is the GOGC at which a heap of which so much is alive grows to gcHeap,
// if it grows to goal at the one that it has. What it grows by is a share of
// the heap alive, stacks and globals.
func percent(live, goal, old uint64) uint64 {
	if live >= gcHeap || goal <= live {
		return leastPercent
	}
	return min(max((gcHeap-live)*old/(goal-live), leastPercent), mostPercent)
}

// processors is what GOMAXPROCS is best set to when a process only serves. Go
// has no priorities: with as many as there are cores, a short call waits until
// every goroutine that was ready before it has run, and a commit makes hundreds
// ready. With more of them, the system's scheduler shares the cores among
// threads, and prefers those that slept. Many cores need no more: they are not
// all busy.
func processors(cores int) int {
	const enough = 64
	return max(cores, min(8*cores, enough))
}
