package main

import "github.com/spf13/cobra"

// commands are warptune's commands in the order help shows them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.tuneCommand(),
		a.measureCommand(),
		a.simulateCommand(),
		a.explainCommand(),
		a.pageCommand(),
		a.reportCommand(),
		a.fidelityCommand(),
		a.sweepCommand(),
		a.bestCommand(),
		a.exportCommand(),
		a.replayCommand(),
		a.launchCommand(),
		a.standbyCommand(),
		a.doctorCommand(),
		a.kernelsCommand(),
		a.archsCommand(),
		a.calibrateCommand(),
		a.spaceCommand(),
		a.versionCommand(),
	}
}
