package operate

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
	"github.com/warptune/warptune/tuner/standby"
)

// StandbyCommand shows how it stands with a coordinator and its standby.
func StandbyCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	cmd := &cobra.Command{
		Use:   "standby",
		Short: "Show which coordinator serves, which one follows, and how far behind it is",
		Args:  cli.Exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if conn.Coordinator == "" {
				return cli.Usagef("warptune standby: give --coordinator and the addresses of both coordinators")
			}
			cc, err := conn.Security.Dial(conn.Coordinator)
			if err != nil {
				return err
			}
			defer cc.Close()
			m, err := warptunev1.NewStandbyServiceClient(cc).Standing(cmd.Context(), &warptunev1.StandingRequest{})
			if err != nil {
				return conn.Remote(err)
			}
			if a.JSON {
				return a.PrintJSON(message.JSON(m))
			}
			_, err = fmt.Fprintln(a.Stdout, standingText(m))
			return err
		},
	}
	cmd.Flags().StringVar(&conn.Coordinator, "coordinator", "", "address of a running coordinator, or those of both, separated by commas")
	conn.Security.ClientFlags(cmd.Flags())
	return cmd
}

func standingText(m *warptunev1.StandingResponse) string {
	if m.GetNode() == "" {
		return "this coordinator has no standby, and no lease (coordinator --arbiter)"
	}
	return standby.Standing{
		Role: standby.RolePrimary, Node: m.GetNode(), Term: m.GetTerm(), InSync: m.GetInSync(), Connected: m.GetConnected(),
		Behind: m.GetBehind(), Heard: time.Duration(m.GetHeardMs()) * time.Millisecond, Problem: m.GetProblem(), Required: m.GetRequired(),
	}.String()
}
