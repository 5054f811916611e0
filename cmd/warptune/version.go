package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/warptune/warptune/simengine"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of warptune and of its simulator",
		Args:  exactly(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Engine  string `json:"engine"`
				Go      string `json:"go"`
			}{moduleVersion(), simengine.Version(), runtime.Version()}
			if a.json {
				return a.printJSON(v)
			}
			_, err := fmt.Fprintf(a.stdout, "warptune %s, simulator %s, %s\n", v.Version, v.Engine, v.Go)
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
