package main

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
)

// auditCommand shows who changed what, when, and what came of it.
func (a *app) auditCommand() *cobra.Command {
	var conn connection
	var last int64
	cmd := &cobra.Command{
		Use:   "audit [SWEEP]",
		Short: "Show who changed what, when, and what came of it; of one sweep, also when it was deleted, or of all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("warptune sweep audit: want one sweep, or none for all, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return usagef("--last %d: want how many of the latest acts to show, 0 for all", last)
			}
			m := &warptunev1.AuditRequest{}
			if len(args) == 1 {
				m.Id = args[0]
			}
			return conn.with(cmd.Context(), func(c *client) error {
				acts, lost, err := auditLog(cmd.Context(), c, m, last)
				if err != nil {
					return err
				}
				slices.Reverse(acts)
				return cmp.Or(a.printActs(acts), damagedActs(lost))
			})
		},
	}
	conn.flags(cmd)
	cmd.Flags().Int64Var(&last, "last", 100, "only so many of the latest; 0: all that are kept")
	return cmd
}

// auditLog reads up to last acts, newest first; 0: all.
func auditLog(ctx context.Context, c *client, m *warptunev1.AuditRequest, last int64) (acts []*warptunev1.Act, lost []uint64, err error) {
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

func (a *app) printActs(acts []*warptunev1.Act) error {
	if a.json {
		return a.printJSON(protoJSON(acts))
	}
	t := newTable(a.stdout, "WHEN", "WHO", "WHAT", "OF", "RESULT", "DETAIL")
	for _, m := range acts {
		of := shortID(m.GetSweep())
		if m.GetWorker() != "" {
			of = strings.TrimSpace(of + " worker " + m.GetWorker())
		}
		result := "done"
		if m.GetRefused() != "" {
			result = "refused: " + m.GetRefused()
		}
		t.row(time.UnixMilli(m.GetAtMs()).UTC().Format("2006-01-02T15:04:05.000Z"), callerText(m.GetBy()), m.GetWhat(), of, result, oneLineText(m.GetDetail()))
	}
	return t.flush()
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
	return incompletes(errors.New("incomplete: acts are damaged in the database and left out, number " + strings.Trim(fmt.Sprint(lost), "[]") + "; \"warptune doctor\" looks through the database"))
}
