package operate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/deploy"
)

// Exit statuses of a worker; see cmd/worker.
const (
	workerUsage   = 64
	workerDrained = 75
)

// localRestarts is how often each local worker is started again after a fault.
const localRestarts = 5

func launchLocalCommand(a *cli.App) *cobra.Command {
	var l launchFlags
	cmd := &cobra.Command{
		Use:   "local --coordinator ADDR",
		Short: "Processes on this machine",
		Long: "Start --workers processes here and wait for them. A worker that ends with a fault is\n" +
			"started again, a few times. Interrupted, they are drained.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.fleet.Program == "" {
				l.fleet.Program = workerProgram()
			}
			if err := l.fleet.Check(deploy.Local); err != nil {
				return cli.Usage(err)
			}
			return launchLocal(cmd.Context(), a, &l.fleet)
		},
	}
	l.flags(cmd)
	return cmd
}

// workerProgram is the worker beside this program, or else the one in PATH.
func workerProgram() string {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), "worker")
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return "worker"
}

// launchLocal runs the fleet here until every worker has ended.
func launchLocal(ctx context.Context, a *cli.App, fleet *deploy.Fleet) error {
	logs := &lineWriter{w: a.Stderr}
	var g errgroup.Group
	for i := range fleet.Workers {
		g.Go(func() error { return keepWorker(ctx, fleet, i, logs) })
	}
	return g.Wait()
}

// keepWorker runs one worker, again after faults, until it has finished.
func keepWorker(ctx context.Context, fleet *deploy.Fleet, i int, logs *lineWriter) error {
	for restart := 0; ; restart++ {
		args := append(fleet.Args(), "--id", fmt.Sprintf("local-%d-%d", os.Getpid(), i))
		cmd := exec.CommandContext(ctx, fleet.Program, args...)
		cmd.Stderr = logs
		// Drained, not killed: what it holds goes back at once. Only a worker that
		// does not end is killed.
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = 30 * time.Second
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case cmd.ProcessState == nil:
			return fmt.Errorf("start worker %d: %w: name the program with --worker", i, err)
		case err == nil, cmd.ProcessState.ExitCode() == workerDrained:
			return nil
		case !errors.As(err, &exit), exit.ExitCode() == workerUsage, ctx.Err() != nil, restart == localRestarts:
			return fmt.Errorf("worker %d: %w", i, err)
		}
		fmt.Fprintf(logs, "warptune: worker %d: %v: starting it again\n", i, err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
	}
}

// lineWriter lets several processes write to one writer; each writes lines.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write is in io.Writer.
func (l *lineWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
