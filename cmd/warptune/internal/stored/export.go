package stored

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/cmd/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/input"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/simengine/arch"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/export"
	"github.com/warptune/warptune/tuner/rpc"
)

// exporting is what an export is made of.
type exporting struct {
	kernel, arch, level, sweep, format, output string
	problem                                    []int64
	all                                        bool
	archDigest                                 string // of arch, if that is a file
	descriptors                                map[string]*arch.Descriptor
}

// ExportCommand is warptune export.
func ExportCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var e exporting
	cmd := &cobra.Command{
		Use:   "export --format F",
		Short: "Write the tuning table: the best of every kernel, architecture and problem size",
		Long: "Write the tuning table: the best of every kernel, architecture and problem size, as its\n" +
			"newest sweep and those of the same kernel, compiler and simulator found it. The\n" +
			"formats t4 and kernel-tuner are files that other tuners load: they hold one run, with\n" +
			"every configuration evaluated and those that failed.",
		Args: cli.Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.JSON && e.format != "json" {
				return cli.Usagef("--json is --format json, and --format %s was asked for", e.format)
			}
			if err := export.Write(io.Discard, e.format, nil); err != nil {
				return cli.Usage(err)
			}
			var err error
			if e.arch, e.archDigest, err = input.ArchNamed(e.arch); err != nil {
				return err
			}
			return conn.With(cmd.Context(), func(c *connect.Client) error { return exportSweeps(cmd.Context(), a, c, &e) })
		},
	}
	conn.Flags(cmd)
	f := cmd.Flags()
	f.StringVar(&e.kernel, "kernel", "", "only this kernel")
	f.StringVar(&e.arch, "arch", "", input.ArchHelp("only this architecture"))
	f.Int64SliceVar(&e.problem, "problem", nil, "only this problem size")
	f.StringVar(&e.level, "level", "", "only this level: cycle, model or measured")
	f.StringVar(&e.sweep, "sweep", "", "only the sweep of this identity, or its first digits")
	f.StringVar(&e.format, "format", "json", strings.Join(export.Formats(), ", "))
	f.StringVarP(&e.output, "output", "o", "", "file to write; default: standard output")
	f.BoolVar(&e.all, "all", false, "every evaluated configuration instead of the best ones")
	return cmd
}

func exportSweeps(ctx context.Context, a *cli.App, c *connect.Client, e *exporting) error {
	var rows []export.Row
	whole := export.WholeRun(e.format)
	newer := 0 // sweeps, the newest of which comes first
	var lacks error
	for s, err := range rpc.Sweeps(ctx, c, &warptunev1.ListRequest{Kernel: e.kernel, Arch: e.arch}) {
		if tuner.KindOf(err) == tuner.Damaged {
			lacks = cli.Incompletes(lacks, err)
			continue
		} else if err != nil {
			return err
		}
		if !e.wants(s) || !e.all && !whole && s.GetSpec().GetStrategy() == tuner.StrategyListed {
			continue
		}
		more, damage, err := e.sweepRows(ctx, c, s, e.all || whole, whole)
		switch tuner.KindOf(rpc.FromStatus(err)) {
		case tuner.NotFound:
			continue // it was deleted since it was listed
		case tuner.Damaged:
			lacks = cli.Incompletes(lacks, fmt.Errorf("incomplete: sweep %s is left out: %w", cli.ShortID(s.GetId()), rpc.FromStatus(err)))
			continue
		}
		if err != nil {
			return err
		}
		for i := range more {
			more[i].Newer = newer
		}
		newer++
		lacks = cli.Incompletes(lacks, message.IncompleteSweep(s), damage)
		rows = append(rows, more...)
	}
	if len(rows) == 0 {
		if lacks != nil {
			return lacks
		}
		return errors.New("nothing to export: no result is stored for what the flags ask; \"warptune sweep list\" shows what there is")
	}
	if !e.all && !whole {
		rows = export.Best(rows)
	}
	out, err := a.Create(e.output)
	if err != nil {
		return err
	}
	buf := bufio.NewWriter(out)
	err = export.Write(buf, e.format, rows)
	return cmp.Or(out.Finish(errors.Join(err, buf.Flush())), lacks)
}

// wants reports whether the flags ask for a sweep.
func (e *exporting) wants(s *warptunev1.Sweep) bool {
	spec := s.GetSpec()
	if s.GetState() == warptunev1.SweepState_SWEEP_STATE_DELETING {
		return false // some of it is gone
	}
	if e.archDigest != "" && spec.GetArchDigest() != e.archDigest {
		return false
	}
	return strings.HasPrefix(s.GetId(), e.sweep) && (e.level == "" || message.LastLevel(spec) == e.level) &&
		(len(e.problem) == 0 || slices.Equal(spec.GetProblem(), e.problem))
}

// sweepRows are the rows of one sweep: its best, or all that are correct, or
// also those that failed; damage names those whose rows are damaged.
func (e *exporting) sweepRows(ctx context.Context, c *connect.Client, s *warptunev1.Sweep, all, failed bool) (rows []export.Row, damage, err error) {
	d, err := e.descriptor(ctx, c, s)
	if err != nil {
		return nil, nil, err
	}
	if !all {
		r, err := c.Top(ctx, &warptunev1.TopRequest{Id: s.GetId(), Count: 1})
		if err != nil {
			return nil, nil, err
		}
		return exportRows(s.GetSpec(), d, r.GetNames(), r.GetResults(), false), cli.DamagedRows(r.GetDamagedRows(), r.GetDamaged(), s.GetId()), nil
	}
	stream, err := c.Results(ctx, &warptunev1.ResultsRequest{Id: s.GetId()})
	if err != nil {
		return nil, nil, err
	}
	var names []string
	var lost []int64
	for {
		page, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return rows, cli.DamagedRows(int64(len(lost)), lost, s.GetId()), nil
		} else if err != nil {
			return nil, nil, err
		}
		lost = append(lost, page.GetDamaged()...)
		if len(page.GetNames()) > 0 {
			names = page.GetNames()
		}
		rows = append(rows, exportRows(s.GetSpec(), d, names, page.GetResults(), failed)...)
	}
}

// descriptor is the architecture that a sweep is for; nil: this version does not know
// it.
func (e *exporting) descriptor(ctx context.Context, c *connect.Client, s *warptunev1.Sweep) (*arch.Descriptor, error) {
	spec := rpc.ToSpec(s.GetSpec())
	if d, ok := e.descriptors[spec.ArchDigest]; ok {
		return d, nil
	}
	var text []byte
	if spec.Descriptor != "" {
		r, err := c.Descriptor(ctx, &warptunev1.DescriptorRequest{Id: s.GetId()})
		if err != nil {
			return nil, err
		}
		text = r.GetText()
	}
	d, err := cluster.DescriptorOf(&spec, text)
	if err != nil { // it is one of another version
		d = nil
	}
	if e.descriptors == nil {
		e.descriptors = map[string]*arch.Descriptor{}
	}
	e.descriptors[spec.ArchDigest] = d
	return d, nil
}

// exportRows are the rows of results: the correct ones at the sweep's last
// level, or with failed also all that failed at any.
func exportRows(spec *warptunev1.Spec, d *arch.Descriptor, names []string, results []*warptunev1.Result, failed bool) []export.Row {
	var rows []export.Row
	row := export.Row{Spec: rpc.ToSpec(spec), Names: names}
	if d != nil {
		if row.CC, row.Device = d.CC, d.Title; message.LastLevel(spec) != tuner.LevelMeasured {
			row.Caution = fidelity.Caveat(d, message.LastLevel(spec))
		}
	}
	for _, r := range results {
		validity := r.GetOutcome().GetValidity()
		if validity != warptunev1.Validity_VALIDITY_CORRECT && !(failed && validity != warptunev1.Validity_VALIDITY_UNSPECIFIED) {
			continue
		}
		row.Spec.Level = r.GetLevel()
		if row.Spec.Level != message.LastLevel(spec) && validity == warptunev1.Validity_VALIDITY_CORRECT {
			continue // it ranks
		}
		result, config := rpc.ToResult(r)
		row.Config, row.Outcome, row.Seq = config, result.Outcome, result.Seq
		rows = append(rows, row)
	}
	return rows
}
