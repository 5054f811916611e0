package sweep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/cmd/warptune/internal/cli"
	"github.com/warptune/warptune/cmd/warptune/internal/connect"
	"github.com/warptune/warptune/cmd/warptune/internal/message"
)

// auditCommand shows who changed what, when, and what came of it.
func auditCommand(a *cli.App) *cobra.Command {
	var conn connect.Connection
	var last int64
	cmd := &cobra.Command{
		Use:   "audit [SWEEP]",
		Short: "Show who changed what, when, and what came of it; of one sweep, also when it was deleted, or of all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("warptune sweep audit: want one sweep, or none for all, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return cli.Usagef("--last %d: want how many of the latest acts to show, 0 for all", last)
			}
			m := &warptunev1.AuditRequest{}
			if len(args) == 1 {
				m.Id = args[0]
			}
			return conn.With(cmd.Context(), func(c *connect.Client) error {
				acts, lost, err := auditLog(cmd.Context(), c, m, last)
				if err != nil {
					return err
				}
				slices.Reverse(acts)
				return cmp.Or(printActs(a, acts), damagedActs(lost))
			})
		},
	}
	conn.Flags(cmd)
	cmd.Flags().Int64Var(&last, "last", 100, "only so many of the latest; 0: all that are kept")
	return cmd
}

// auditLog reads up to last acts, newest first; 0: all.
func auditLog(ctx context.Context, c *connect.Client, m *warptunev1.AuditRequest, last int64) (acts []*warptunev1.Act, lost []uint64, err error) {
	for {
		if last > 0 {
			m.PageSize = min(last-int64(len(acts)), 1000)
		}
		page, err := c.Audit(ctx, m)
		if err != nil {
			return nil, nil, err
		}
		acts, lost = append(acts, page.GetActs()...), append(lost, page.GetDamaged()...)
		m.PageToken = page.GetNextPageToken()
		if m.PageToken == "" || last > 0 && int64(len(acts)) >= last {
			return acts, lost, nil
		}
	}
}

func printActs(a *cli.App, acts []*warptunev1.Act) error {
	if a.JSON {
		return a.PrintJSON(message.JSON(acts))
	}
	t := cli.NewTable(a.Stdout, "WHEN", "WHO", "WHAT", "OF", "RESULT", "DETAIL")
	for _, m := range acts {
		of := cli.ShortID(m.GetSweep())
		if m.GetWorker() != "" {
			of = strings.TrimSpace(of + " worker " + m.GetWorker())
		}
		result := "done"
		if m.GetRefused() != "" {
			result = "refused: " + m.GetRefused()
		}
		t.Row(time.UnixMilli(m.GetAtMs()).UTC().Format("2006-01-02T15:04:05.000Z"), callerText(m.GetBy()), m.GetWhat(), of, result, cli.OneLineText(m.GetDetail()))
	}
	return t.Flush()
}

// callerText says who did something.
func callerText(by *warptunev1.Caller) string {
	if by == nil {
		return "coordinator"
	}
	who := "anybody"
	if by.GetName() != "" {
		who = fmt.Sprintf("%s (%s)", cmp.Or(by.GetCertificate(), by.GetName()), by.GetRole())
	}
	if by.GetAddress() != "" {
		who += " at " + by.GetAddress()
	}
	return who
}

// damagedActs says, if there are some, that acts are damaged.
func damagedActs(lost []uint64) error {
	if len(lost) == 0 {
		return nil
	}
	return cli.Incompletes(errors.New("incomplete: acts are damaged in the database and left out, number " + strings.Trim(fmt.Sprint(lost), "[]") + "; \"warptune doctor\" looks through the database"))
}
