package evaluate

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is how long the calling thread has run; 0 when it is not known.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
