package rpc

import (
	"os"
	"runtime"
	"runtime/debug"
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
		debug.SetGCPercent(gcPercent)
	}
}

// gcPercent trades a little time for memory: most of what a thousand workers'
// calls allocate is soon garbage.
const gcPercent = 60

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
