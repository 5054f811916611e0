package cluster

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// StopContext returns a context that ends at the first interrupt or SIGTERM.
// A second interrupt, from somebody who does not want to wait, ends the process
// at once. A second SIGTERM does nothing: a batch system tells every process of
// a job, and the script that started us passes on what it was told.
func StopContext() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	return ctx, stop
}
