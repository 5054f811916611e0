package main

import (
	"context"

	"github.com/spf13/cobra"
)

// confirmFlags are those of tune that have the best predictions measured.
type confirmFlags struct {
	count int
	on    string
	gpu   gpuFlags
}

func (f *confirmFlags) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.count, "confirm", 0, "measure so many of those predicted fastest, and a few of the next of which the prediction is\n"+
		"unsure, on this machine's GPU or by a coordinator's measuring workers, and answer with the measured best")
	cmd.Flags().StringVar(&f.on, "on", "", "labels that a measuring worker must have, NAME=VALUE,…; a value alone is the GPU's name")
	f.gpu.flags(cmd)
}

// run predicts a kernel's configurations, and measures the best of them.
func (f *confirmFlags) run(ctx context.Context, a *app, name string, conn *connection, s *sweepFlags, slots int) error {
	if f.count < 1 {
		return usagef("--confirm must be at least 1, got %d", f.count)
	}
	m := measuring{conn: *conn, sweep: *s, gpu: f.gpu, on: f.on, slots: slots, top: f.count}
	return a.measure(ctx, &m, name, "", "")
}
