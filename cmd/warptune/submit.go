package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/plot"
	"github.com/warptune/warptune/tuner/rpc"
)

// bundleChunk is how much of a bundle one message carries, bytes.
const bundleChunk = 256 << 10

// maxPuts is how often a bundle is put for one spec.
const maxPuts = 3

// submit submits every spec of a plan.
func submit(ctx context.Context, c *client, p *plan) ([]*warptunev1.SubmitResponse, error) {
	out := make([]*warptunev1.SubmitResponse, len(p.specs))
	for i, spec := range p.specs {
		var err error
		if out[i], err = submitSpec(ctx, c, spec, &p.of[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// submitSpec submits a spec, and puts what it names by digest where that is not
// stored: it goes with the last sweep of its that is deleted, so perhaps just before.
func submitSpec(ctx context.Context, c *client, spec *warptunev1.Spec, of *subject) (*warptunev1.SubmitResponse, error) {
	for puts := 0; ; puts++ {
		r, err := c.Submit(ctx, &warptunev1.SubmitRequest{Spec: spec})
		if status.Code(err) != codes.NotFound || puts == maxPuts {
			return r, err
		}
		for digest, text := range map[string][]byte{spec.GetBundle(): of.bundle, spec.GetArchDescriptor(): of.arch.Text, spec.GetPredictions(): of.predictions} {
			if digest == "" {
				continue
			}
			if err := putBundle(ctx, c, digest, text); err != nil {
				return nil, err
			}
		}
	}
}

func putBundle(ctx context.Context, c *client, digest string, bundle []byte) error {
	stream, err := c.PutBundle(ctx)
	if err != nil {
		return err
	}
	for first := true; first || len(bundle) > 0; first = false {
		n := min(len(bundle), bundleChunk)
		err := stream.Send(&warptunev1.PutBundleRequest{Digest: digest, Chunk: bundle[:n]})
		if errors.Is(err, io.EOF) {
			break // the coordinator has answered already: it has the bundle, or refuses it
		} else if err != nil {
			return err
		}
		bundle = bundle[n:]
	}
	_, err = stream.CloseAndRecv()
	return err
}

func (a *app) submitCommand() *cobra.Command {
	var conn connection
	var s sweepFlags
	cmd := &cobra.Command{
		Use:   "submit KERNEL --arch A[,A…]",
		Short: "Submit a sweep for workers to evaluate, and return",
		Args:  exactly(1, kernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if conn.coordinator == "" {
				return usagef("sweep submit wants --coordinator: nobody evaluates what is submitted to a database file. " +
					"\"warptune tune\" with the same flags evaluates it here, and the same command again resumes it")
			}
			p, err := s.plan(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return conn.with(cmd.Context(), func(c *client) error {
				answers, err := submit(cmd.Context(), c, p)
				if err != nil {
					return err
				}
				sweeps := make([]*warptunev1.Sweep, len(answers))
				for i, r := range answers {
					sweeps[i] = r.GetSweep()
				}
				return a.printSweeps(sweeps)
			})
		},
	}
	conn.flags(cmd)
	s.flags(cmd)
	return cmd
}

func (a *app) watchCommand() *cobra.Command {
	var conn connection
	cmd := &cobra.Command{
		Use:   "watch SWEEP",
		Short: "Follow a sweep until it ends",
		Args:  exactly(1, "one sweep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return conn.with(cmd.Context(), func(c *client) error {
				sweep, err := a.watch(cmd.Context(), c, args[0])
				if err != nil {
					return err
				}
				if a.json {
					return cmp.Or(a.printJSON(protoJSON(sweep)), incompleteSweep(sweep))
				}
				return cmp.Or(a.printStatus(sweep), incompleteSweep(sweep))
			})
		},
	}
	conn.flags(cmd)
	return cmd
}

// fullPause is how long a coordinator whose disk is full is left alone.
const fullPause = 5 * time.Second

// watch shows the progress of a sweep until it has ended, and returns its last
// state. A coordinator that goes away after its first answer, or whose disk is
// full, is waited for.
func (a *app) watch(ctx context.Context, c *client, id string) (*warptunev1.Sweep, error) {
	bar := a.progress("configurations")
	defer bar.finish()
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
			bar.atMost, bar.rated, bar.rate = endsEarly(s.GetSpec()), true, s.GetRate()
			bar.left = rpc.Milliseconds(s.GetTimeLeftMs())
			if s.GetState() == warptunev1.SweepState_SWEEP_STATE_PAUSED {
				bar.rate, bar.left = 0, 0
			}
			bar.show(int(done), int(n.GetTotal()), watchNote(s))
			if ended(s) {
				return s, nil
			}
			if c.embedded != nil && !c.embedded.Works() {
				return nil, unserved(s)
			}
			if err := hopeless(c, s); err != nil {
				return s, err
			}
		}
		if known := rpc.FromStatus(err); answered && ctx.Err() == nil && tuner.KindOf(known) == tuner.DiskFull {
			if told != done {
				bar.say(known.Error() + "; waiting for that")
			}
			told = done
			select {
			case <-time.After(fullPause):
			case <-ctx.Done():
			}
			continue
		}
		if !answered || c.beside || ctx.Err() != nil || !rpc.Unreachable(err) {
			return nil, err
		}
		bar.say("the coordinator does not answer; waiting for it")
	}
}

// unserved says that nobody evaluates for a sweep in a database of one's own.
func unserved(s *warptunev1.Sweep) error {
	n := s.GetCounts()
	return fmt.Errorf("sweep %s of %s is %s with %d of %d done, and nobody evaluates for it: \"warptune tune\" with the flags that it was begun with goes on with it",
		shortID(s.GetId()), target(s.GetSpec()), stateName(s.GetState()), n.GetDone()+n.GetAbandoned(), n.GetTotal())
}

// longAside is for how long a worker of this process is set aside before it is of
// no use to wait for it: it has failed for more than a minute then.
const longAside = time.Minute

// hopeless says why a sweep cannot go on in this process, whose only worker fails
// at everything.
func hopeless(c *client, s *warptunev1.Sweep) error {
	for _, a := range s.GetSetAside() {
		if c.embedded != nil && rpc.Milliseconds(a.GetForMs()) > longAside {
			return fmt.Errorf("nothing can be evaluated here: %s: mend that, and run the same command again, which goes on", oneLineText(a.GetWhy()))
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
	} else if correct, kinds := outcomes(s.GetCounts()); correct == 0 && len(kinds) > 0 {
		note += ", none runs clean: " + strings.Join(kinds, ", ")
	}
	if p := s.GetProof(); p != nil && p.Gap != nil && p.GetGap() > 0 {
		note += ", proven within " + percentText(p.GetGap())
	}
	if left := s.GetLeft(); left != nil {
		note += ", left to gain: " + leftText(left, roofLeaves(s.GetBest().GetOutcome(), nil))
	}
	if all := s.GetSetAside(); len(all) > 0 {
		note += fmt.Sprintf(", worker %s is set aside: %s", all[0].GetWorker(), oneLineText(all[0].GetWhy()))
	}
	if s.GetState() == warptunev1.SweepState_SWEEP_STATE_PAUSED {
		note += ", paused"
	} else if s.GetWorkers() == 0 {
		note += ", no worker is at work"
	}
	return note
}
