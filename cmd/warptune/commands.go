package main

import (
	"github.com/spf13/cobra"

	"github.com/warptune/warptune/cmd/warptune/internal/calibration"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/explain"
	"github.com/warptune/warptune/cmd/warptune/internal/fidelity"
	"github.com/warptune/warptune/cmd/warptune/internal/inventory"
	"github.com/warptune/warptune/cmd/warptune/internal/livepage"
	"github.com/warptune/warptune/cmd/warptune/internal/measure"
	"github.com/warptune/warptune/cmd/warptune/internal/operate"
	"github.com/warptune/warptune/cmd/warptune/internal/replay"
	"github.com/warptune/warptune/cmd/warptune/internal/simulate"
	"github.com/warptune/warptune/cmd/warptune/internal/stored"
	"github.com/warptune/warptune/cmd/warptune/internal/sweep"
	"github.com/warptune/warptune/cmd/warptune/internal/tune"
)

// commands are warptune's commands in the order help shows them.
func commands(a *cli.App) []*cobra.Command {
	return []*cobra.Command{
		tune.Command(a),
		measure.Command(a),
		simulate.Command(a),
		explain.Command(a),
		livepage.Command(a),
		stored.ReportCommand(a),
		fidelity.Command(a),
		sweep.Command(a),
		stored.BestCommand(a),
		stored.ExportCommand(a),
		replay.Command(a),
		operate.LaunchCommand(a),
		operate.StandbyCommand(a),
		operate.DoctorCommand(a),
		inventory.KernelsCommand(a),
		inventory.ArchsCommand(a),
		calibration.Command(a),
		inventory.SpaceCommand(a),
		versionCommand(a),
	}
}
