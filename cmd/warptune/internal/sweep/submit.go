package sweep

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/plan"
)

// bundleChunk is how much of a bundle one message carries, bytes.
const bundleChunk = 256 << 10

// maxPuts is how often a bundle is put for one spec.
const maxPuts = 3

// Submit submits every spec of a plan.
func Submit(ctx context.Context, c *connect.Client, p *plan.Plan) ([]*warptunev1.SubmitResponse, error) {
	out := make([]*warptunev1.SubmitResponse, len(p.Specs))
	for i, spec := range p.Specs {
		var err error
		if out[i], err = submitSpec(ctx, c, spec, &p.Of[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// submitSpec submits a spec, and puts what it names by digest where that is not
// stored: it goes with the last sweep of its that is deleted, so perhaps just before.
func submitSpec(ctx context.Context, c *connect.Client, spec *warptunev1.Spec, of *plan.Subject) (*warptunev1.SubmitResponse, error) {
	for puts := 0; ; puts++ {
		r, err := c.Submit(ctx, &warptunev1.SubmitRequest{Spec: spec})
		if status.Code(err) != codes.NotFound || puts == maxPuts {
			return r, err
		}
		for digest, text := range map[string][]byte{spec.GetBundle(): of.Bundle, spec.GetArchDescriptor(): of.Arch.Text, spec.GetPredictions(): of.Predictions} {
			if digest == "" {
				continue
			}
			if err := putBundle(ctx, c, digest, text); err != nil {
				return nil, err
			}
		}
	}
}

func putBundle(ctx context.Context, c *connect.Client, digest string, bundle []byte) error {
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

func submitCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var s plan.Flags
	cmd := &cobra.Command{
		Use:   "submit KERNEL --arch A[,A…]",
		Short: "Submit a sweep for workers to evaluate, and return",
		Args:  cli.Exactly(1, input.KernelHelp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if conn.Coordinator == "" {
				return cli.Usagef("sweep submit wants --coordinator: nobody evaluates what is submitted to a database file. " +
					"\"warptune tune\" with the same flags evaluates it here, and the same command again resumes it")
			}
			p, err := s.Plan(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				answers, err := Submit(cmd.Context(), c, p)
				if err != nil {
					return err
				}
				sweeps := make([]*warptunev1.Sweep, len(answers))
				for i, r := range answers {
					sweeps[i] = r.GetSweep()
				}
				return printSweeps(a, sweeps)
			})
		},
	}
	conn.Flags(cmd)
	s.Flags(cmd)
	return cmd
}
