package rpc

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc/peer"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
)

// calling is a context in which the coordinator knows who calls.
func calling(ctx context.Context) context.Context {
	who := tuner.Caller{Anything: true}
	if p, ok := peer.FromContext(ctx); ok && p.Addr.Network() == "tcp" {
		who.Address = hostOf(ctx)
	}
	if id, ok := Caller(ctx); ok {
		who.Name, who.Role, who.Certificate, who.Anything = id.Name, id.Role.String(), id.Certificate, id.Role == Admin
	}
	return coordinator.WithCaller(ctx, who)
}

// pageActs is how many acts one message of Audit carries, and scanned how many are
// looked through for it.
const (
	pageActs = 1000
	scanned  = 10_000
)

// Audit is in SweepService.
func (s *sweepService) Audit(ctx context.Context, m *warptunev1.AuditRequest) (*warptunev1.AuditResponse, error) {
	const op = "read the audit log"
	before, most := uint64(0), int64(pageActs)
	if token := m.GetPageToken(); token != "" {
		num, err := strconv.ParseUint(token, 36, 64)
		if err != nil || num == 0 {
			return nil, ToStatus(tuner.Errorf(tuner.Invalid, op, "%.80q is no page token: give the one that came with the page before", token))
		}
		before = num
	}
	if n := m.GetPageSize(); n < 0 {
		return nil, ToStatus(tuner.Errorf(tuner.Invalid, op, "a page of %d acts", n))
	} else if n > 0 {
		most = min(n, most)
	}
	out := &warptunev1.AuditResponse{}
	for looked := 0; looked < scanned; {
		page, lost, err := s.c.Acts(ctx, before, pageActs)
		if err != nil {
			return nil, ToStatus(err)
		}
		if len(page)+len(lost) == 0 {
			return out, nil
		}
		looked += len(page) + len(lost)
		for i := range page {
			if int64(len(out.Acts)) == most { // the rest is the next page's
				out.Damaged = append(out.Damaged, slices.DeleteFunc(lost, func(num uint64) bool { return num < before })...)
				out.NextPageToken = strconv.FormatUint(before, 36)
				return out, nil
			}
			before = page[i].Num
			if strings.HasPrefix(page[i].Sweep, m.GetId()) && mayRead(ctx, &page[i]) {
				out.Acts = append(out.Acts, fromAct(&page[i]))
			}
		}
		out.Damaged = append(out.Damaged, lost...)
		for _, num := range lost {
			before = least(before, num)
		}
	}
	out.NextPageToken = strconv.FormatUint(before, 36)
	return out, nil
}

// least is the smaller of two numbers of acts; 0 is none.
func least(a, b uint64) uint64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// mayRead reports whether a caller may be told of an act: a submitter, of what he
// did, or what was done to what is his.
func mayRead(ctx context.Context, a *tuner.Act) bool {
	id, known := Caller(ctx)
	return !known || id.Role == Admin || id.Name != "" && (a.Owner == id.Name || a.By != nil && a.By.Name == id.Name)
}

func fromAct(a *tuner.Act) *warptunev1.Act {
	m := &warptunev1.Act{
		Number: a.Num, AtMs: millis(a.At), What: a.What, Sweep: a.Sweep, Owner: a.Owner, Worker: a.Worker, Refused: a.Refused, Detail: a.Detail,
	}
	if by := a.By; by != nil {
		m.By = &warptunev1.Caller{Name: by.Name, Role: by.Role, Certificate: by.Certificate, Address: by.Address}
	}
	return m
}
