package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/simengine"
)

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of warptune and of its simulator",
		Args:  cli.Exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Engine  string `json:"engine"`
				Go      string `json:"go"`
			}{moduleVersion(), simengine.Version(), runtime.Version()}
			if a.JSON {
				return a.PrintJSON(v)
			}
			_, err := fmt.Fprintf(a.Stdout, "warptune %s, simulator %s, %s\n", v.Version, v.Engine, v.Go)
			return err
		},
	}
}

// moduleVersion is the version the binary was built from, as Go recorded it.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
