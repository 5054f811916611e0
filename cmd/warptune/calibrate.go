package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/deploy/calibrate/results"
	"github.com/warptune/warptune/simengine/arch/calibrate"
)

func (a *app) calibrateCommand() *cobra.Command {
	var name, title, base, source, output string
	cmd := &cobra.Command{
		Use:   "calibrate RESULTS.jsonl[.gz] --name NAME --base cc9.0",
		Short: "Make an architecture descriptor of what deploy/calibrate/microbench/run.sh measured",
		Long: "Make an architecture descriptor of what deploy/calibrate/microbench/run.sh measured on a GPU. The\n" +
			"figures measured replace those of the base; every one carries its source. Whatever takes\n" +
			"--arch takes the file: --arch FILE.json.",
		Args: exactly(1, "one file of results"),
		RunE: func(_ *cobra.Command, args []string) error {
			if name == "" || base == "" {
				return usagef("--name and --base are required, e.g. --name mygpu --base cc9.0 (or the name of a like architecture)")
			}
			return a.calibrate(args[0], name, title, base, source, output)
		},
	}
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the architecture's name")
	f.StringVar(&title, "title", "", "what it is, e.g. \"NVIDIA H100 SXM5 80 GB\"; default: the name")
	f.StringVar(&base, "base", "", "where figures that were not measured come from: a base such as cc8.6, or an architecture")
	f.StringVar(&source, "source", "", "what the descriptor names as its source; default: the results file")
	f.StringVarP(&output, "output", "o", "", "file to write; default: standard output")
	return cmd
}

func (a *app) calibrate(file, name, title, base, source, output string) error {
	content, err := results.Content(file)
	if err != nil {
		return err
	}
	parsed, err := calibrate.Parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if title == "" {
		title = name
	}
	if source == "" {
		source = filepath.ToSlash(file)
	}
	_, missing := calibrate.Figures(parsed, source)
	if len(missing) > 0 {
		fmt.Fprintf(a.stderr, "warptune: not measured, taken from %s: %v\n", base, missing)
	}
	text, err := calibrate.Descriptor(parsed, name, title, base, source)
	if err != nil {
		return err
	}
	if output == "" {
		_, err = a.stdout.Write(text)
		return err
	}
	return os.WriteFile(output, text, 0o644)
}
