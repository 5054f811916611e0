package sweep

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

func watchCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	cmd := &cobra.Command{
		Use:   "watch SWEEP",
		Short: "Follow a sweep until it ends",
		Args:  cli.Exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				sweep, err := Watch(cmd.Context(), a, c, args[0])
				if err != nil {
					return err
				}
				if a.JSON {
					return cmp.Or(a.PrintJSON(message.JSON(sweep)), message.IncompleteSweep(sweep))
				}
				return cmp.Or(printStatus(a, sweep), message.IncompleteSweep(sweep))
			})
		},
	}
	conn.Flags(cmd)
	return cmd
}

// fullPause is how long a coordinator whose disk is full is left alone.
const fullPause = 5 * time.Second

// Watch shows the progress of a sweep until it has ended, and returns its last
// state. A coordinator that goes away after its first answer, or whose disk is
// full, is waited for.
func Watch(ctx context.Context, a *cli.App, c *connect.Client, id string) (*warptunev1.Sweep, error) {
	bar := a.Progress("configurations")
	defer bar.Finish()
	answered := false
	done, told := int64(0), int64(-1) // trials that have ended, and how many had when a full disk was told of
	for {
		stream, err := c.Watch(ctx, &warptunev1.WatchRequest{Id: id}, grpc.WaitForReady(answered))
		for err == nil {
			var r *warptunev1.WatchResponse
			if r, err = stream.Recv(); err != nil {
				break
			}
			answered = true
			s, n := r.GetSweep(), r.GetSweep().GetCounts()
			done = n.GetDone() + n.GetAbandoned()
			bar.AtMost, bar.Rated, bar.Rate = endsEarly(s.GetSpec()), true, s.GetRate()
			bar.Left = rpc.Milliseconds(s.GetTimeLeftMs())
			if s.GetState() == warptunev1.SweepState_SWEEP_STATE_PAUSED {
				bar.Rate, bar.Left = 0, 0
			}
			bar.Show(int(done), int(n.GetTotal()), watchNote(s))
			if message.Ended(s) {
				return s, nil
			}
			if c.Embedded != nil && !c.Embedded.Works() {
				return nil, unserved(s)
			}
			if err := hopeless(c, s); err != nil {
				return s, err
			}
		}
		if known := rpc.FromStatus(err); answered && ctx.Err() == nil && tuner.KindOf(known) == tuner.DiskFull {
			if told != done {
				bar.Say(known.Error() + "; waiting for that")
			}
			told = done
			select {
			case <-time.After(fullPause):
			case <-ctx.Done():
			}
			continue
		}
		if !answered || c.Beside || ctx.Err() != nil || !rpc.Unreachable(err) {
			return nil, err
		}
		bar.Say("the coordinator does not answer; waiting for it")
	}
}

// unserved says that nobody evaluates for a sweep in a database of one's own.
func unserved(s *warptunev1.Sweep) error {
	n := s.GetCounts()
	return fmt.Errorf("sweep %s of %s is %s with %d of %d done, and nobody evaluates for it: \"warptune tune\" with the flags that it was begun with goes on with it",
		cli.ShortID(s.GetId()), message.Target(s.GetSpec()), message.StateName(s.GetState()), n.GetDone()+n.GetAbandoned(), n.GetTotal())
}

// longAside is for how long a worker of this process is set aside before it is of
// no use to wait for it: it has failed for more than a minute then.
const longAside = time.Minute

// hopeless says why a sweep cannot go on in this process, whose only worker fails
// at everything.
func hopeless(c *connect.Client, s *warptunev1.Sweep) error {
	for _, a := range s.GetSetAside() {
		if c.Embedded != nil && rpc.Milliseconds(a.GetForMs()) > longAside {
			return fmt.Errorf("nothing can be evaluated here: %s: mend that, and run the same command again, which goes on", cli.OneLineText(a.GetWhy()))
		}
	}
	return nil
}

// endsEarly reports whether a sweep may end before its last trial.
func endsEarly(s *warptunev1.Spec) bool {
	return s.GetPatience() > 0 || s.GetNegligible() > 0 || s.GetBudgetMs() > 0
}

// watchNote is what a progress line says beside the numbers.
func watchNote(s *warptunev1.Sweep) string {
	note := s.GetSpec().GetKernel() + " on " + s.GetSpec().GetArch()
	if best := s.GetBest(); best != nil {
		note += ", best " + plot.Microseconds(best.GetOutcome().GetTimeUs())
	} else if correct, kinds := message.Outcomes(s.GetCounts()); correct == 0 && len(kinds) > 0 {
		note += ", none runs clean: " + strings.Join(kinds, ", ")
	}
	if p := s.GetProof(); p != nil && p.Gap != nil && p.GetGap() > 0 {
		note += ", proven within " + message.PercentText(p.GetGap())
	}
	if left := s.GetLeft(); left != nil {
		note += ", left to gain: " + message.LeftText(left, message.RoofLeaves(s.GetBest().GetOutcome(), nil))
	}
	if all := s.GetSetAside(); len(all) > 0 {
		note += fmt.Sprintf(", worker %s is set aside: %s", all[0].GetWorker(), cli.OneLineText(all[0].GetWhy()))
	}
	if s.GetState() == warptunev1.SweepState_SWEEP_STATE_PAUSED {
		note += ", paused"
	} else if s.GetWorkers() == 0 {
		note += ", no worker is at work"
	}
	return note
}
