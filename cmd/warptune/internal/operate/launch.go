// Package operate has the commands for who runs coordinators and workers: launch, standby,
// doctor.
package operate

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/deploy"
)

// launchFlags say which workers to start, on every engine.
type launchFlags struct {
	fleet deploy.Fleet
	sets  []string
	hosts []string
	print bool
}

func (l *launchFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&l.fleet.Coordinator, "coordinator", "", "address of the coordinator as the workers reach it: HOST:PORT, several separated by commas, or @FILE with such a line (required)")
	f.IntVar(&l.fleet.Workers, "workers", 1, "worker processes to start; over ssh: on each host")
	f.IntVar(&l.fleet.Slots, "slots", 1, "configurations each worker evaluates at a time")
	f.DurationVar(&l.fleet.Lifetime, "lifetime", 0, "workers drain after this time, e.g. 55m of a job of 1h; 0: no limit")
	f.StringVar(&l.fleet.Program, "worker", "", "the worker program where it will run; default: worker, from PATH")
	f.StringArrayVar(&l.fleet.Flags, "flag", nil, "a further flag for the workers, e.g. --flag=--log-json; repeatable")
}

// LaunchCommand is warptune launch.
func LaunchCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "launch slurm|kubernetes|ssh|local",
		Short: "Start workers on a cluster, by the site's own client",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unknown engine %q: want slurm, kubernetes, ssh or local", args[0])
			}
			return cli.Usagef("want an engine: slurm, kubernetes, ssh or local")
		},
	}
	cmd.AddCommand(
		launchEngineCommand(a, deploy.Slurm, "An array of batch jobs, by sbatch",
			"Submit an array of jobs, each one worker, by sbatch. Tasks that drain go back to the\n"+
				"queue; they end when nothing is left to do. --set gives further options of sbatch:\n"+
				"--set partition=short --set time=1:00:00 --lifetime 55m."),
		launchEngineCommand(a, deploy.Kubernetes, "A work-queue Job, by kubectl",
			"Apply a Job whose parallelism is --workers, by kubectl. --set gives name, namespace,\n"+
				"image, cpu and memory."),
		launchEngineCommand(a, deploy.SSH, "Processes on other machines, by ssh",
			"Start --workers processes on each of --hosts, by ssh without passwords. They outlive\n"+
				"the connection. --set log=FILE names their log on the host."),
		launchLocalCommand(a),
	)
	return cmd
}

func launchEngineCommand(a *cli.App, e deploy.Engine, short, long string) *cobra.Command {
	var l launchFlags
	cmd := &cobra.Command{
		Use:   e.String() + " --coordinator ADDR",
		Short: short,
		Long:  long,
		Args:  cli.Exactly(0, "no arguments"),
		RunE:  func(cmd *cobra.Command, _ []string) error { return launch(cmd.Context(), a, e, &l) },
	}
	l.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&l.print, "print", false, "print what would be submitted, and submit nothing")
	f.StringArrayVar(&l.sets, "set", nil, "an option of the engine, KEY=VALUE; repeatable")
	if e != deploy.Kubernetes {
		f.StringVar(&l.fleet.Prologue, "prologue", "", "shell lines to run before the worker, e.g. \"module load llvm\"")
	}
	if e == deploy.SSH {
		f.StringSliceVar(&l.hosts, "hosts", nil, "machines to start workers on, comma-separated (required)")
	}
	return cmd
}

// launch renders the submission, and hands it to the engine's client.
func launch(ctx context.Context, a *cli.App, e deploy.Engine, l *launchFlags) error {
	for _, text := range l.sets {
		s, err := deploy.ParseSetting(text)
		if err != nil {
			return cli.Usage(err)
		}
		l.fleet.Settings = append(l.fleet.Settings, s)
	}
	if l.print {
		text, err := deploy.Render(e, &l.fleet)
		if err != nil {
			return cli.Usage(err)
		}
		_, err = fmt.Fprint(a.Stdout, text)
		return err
	}
	all, err := deploy.Submissions(e, &l.fleet, l.hosts)
	if err != nil {
		return cli.Usage(err)
	}
	for _, s := range all {
		if err := submitTo(ctx, a, s); err != nil {
			return err
		}
	}
	return nil
}

// submitTo runs one command of the site's client; its output is the user's.
func submitTo(ctx context.Context, a *cli.App, s deploy.Submission) error {
	if _, err := exec.LookPath(s.Argv[0]); err != nil {
		return fmt.Errorf("%s is not installed here: run this where it is, or use --print and submit the text yourself", s.Argv[0])
	}
	var problems bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(s.Stdin), a.Stdout, &problems
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(s.Argv, " "), err, strings.TrimSpace(problems.String()))
	}
	_, err := problems.WriteTo(a.Stderr) // warnings
	return err
}
