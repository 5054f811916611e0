package rpc

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

// Bounds on one message of List.
const (
	pageSweeps = 1000
	pageBytes  = 2 << 20
)

// List is in SweepService.
func (s *sweepService) List(ctx context.Context, m *warptunev1.ListRequest) (*warptunev1.ListResponse, error) {
	before, most := uint64(math.MaxUint64), int64(pageSweeps)
	if token := m.GetPageToken(); token != "" {
		num, err := strconv.ParseUint(token, 36, 64)
		if err != nil {
			return nil, ToStatus(tuner.Errorf(tuner.Invalid, "list sweeps", "%.80q is no page token: give the one that came with the page before", token))
		}
		before = num
	}
	if n := m.GetPageSize(); n < 0 {
		return nil, ToStatus(tuner.Errorf(tuner.Invalid, "list sweeps", "a page of %d sweeps", n))
	} else if n > 0 {
		most = min(n, most)
	}
	page, size, more := []tuner.Sweep(nil), 0, false
	s.c.Before(ctx, before, func(sweep *tuner.Sweep) bool {
		if m.GetKernel() != "" && m.GetKernel() != sweep.Spec.Kernel || m.GetArch() != "" && m.GetArch() != sweep.Spec.Arch {
			return true
		}
		if more = int64(len(page)) == most || size > pageBytes; more {
			return false
		}
		brief := *sweep
		brief.Spec.Start, brief.Transferred, brief.Examples = nil, nil, nil // long, and in Get
		page, size = append(page, brief), size+briefBytes(&brief)
		return true
	})
	out := &warptunev1.ListResponse{}
	if !more {
		out.Damaged = s.c.Damaged()
	}
	for i := range page {
		out.Sweeps = append(out.Sweeps, FromSweep(&page[i]))
	}
	if more {
		out.NextPageToken = strconv.FormatUint(page[len(page)-1].Num, 36)
	}
	return out, nil
}

// briefBytes is about how long a sweep's message is at most, as it is listed.
func briefBytes(s *tuner.Sweep) int {
	n := 1<<10 + len(s.Message)
	for name, values := range s.Spec.Set {
		n += len(name)
		for _, v := range values {
			n += len(v) + 2
		}
	}
	if s.Best != nil {
		n += len(s.Best.Outcome.Message) + 64*len(s.Best.Outcome.Metrics) + 32*len(s.BestValues)
	}
	return n
}

// Sweeps yields the sweeps that a request asks for, page after page, and at last an
// error of kind Damaged if some are not among them because their records are damaged.
func Sweeps(ctx context.Context, client warptunev1.SweepServiceClient, m *warptunev1.ListRequest) iter.Seq2[*warptunev1.Sweep, error] {
	return func(yield func(*warptunev1.Sweep, error) bool) {
		m := proto.CloneOf(m)
		for {
			page, err := client.List(ctx, m)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, s := range page.GetSweeps() {
				if !yield(s, nil) {
					return
				}
			}
			if m.PageToken = page.GetNextPageToken(); m.PageToken == "" {
				if lost := page.GetDamaged(); len(lost) > 0 {
					yield(nil, tuner.Errorf(tuner.Damaged, "list sweeps", "sweeps are left out whose records are damaged in the database, number %s: \"warptune doctor\" looks through it, and a backup has it all", strings.Trim(fmt.Sprint(lost), "[]")))
				}
				return
			}
		}
	}
}
