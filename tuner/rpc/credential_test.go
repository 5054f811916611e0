package rpc

import (
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Whoever calls with another token, or another certificate, is another worker
// whatever it calls itself: it cannot report for the first, and only it confirms.
func TestWorkersOfTwoCredentials(t *testing.T) {
	t.Run("tokens", func(t *testing.T) {
		tokens, err := LoadTokens(writeFile(t, "tokens", "worker wendy wwwwwwwwwwwwwwwwwwww\nworker mallory mmmmmmmmmmmmmmmmmmmm\n", 0o600))
		if err != nil {
			t.Fatal(err)
		}
		bearing := func(token string) []grpc.DialOption {
			return append(ClientOptions(nil), grpc.WithPerRPCCredentials(Bearer(token, true)))
		}
		twoCallers(t, Authorize(tokens, nil), bearing("wwwwwwwwwwwwwwwwwwww"), bearing("mmmmmmmmmmmmmmmmmmmm"), true)
	})
	t.Run("certificates", func(t *testing.T) {
		a := newAuthority(t)
		server, err := a.issue("coordinator", "", nil).Server()
		if err != nil {
			t.Fatal(err)
		}
		certified := func(name string) []grpc.DialOption {
			var client credentials.TransportCredentials
			if client, err = a.issue(name, "worker", nil).Client(); err != nil {
				t.Fatal(err)
			}
			return ClientOptions(client)
		}
		twoCallers(t, append(Authorize(nil, nil), Credentials(server)), certified("wendy"), certified("mallory"), true)
	})
	t.Run("nobody is asked", func(t *testing.T) {
		twoCallers(t, nil, ClientOptions(nil), ClientOptions(nil), false)
	})
}

func twoCallers(t *testing.T, server []grpc.ServerOption, one, other []grpc.DialOption, told bool) {
	address, c := serve(t, server...)
	b := tunertest.Bundle{Size: 20}
	content, digest := b.Content()
	if err := c.PutBundle(t.Context(), digest, content); err != nil {
		t.Fatal(err)
	}
	sweep, err := c.Submit(t.Context(), b.Spec("test"), "")
	if err != nil {
		t.Fatal(err)
	}
	call := func(options []grpc.DialOption) func(name string, want int64, reports ...*warptunev1.Report) *warptunev1.SynchronizeResponse {
		client := warptunev1.NewWorkerServiceClient(dial(t, address, options...))
		return func(name string, want int64, reports ...*warptunev1.Report) *warptunev1.SynchronizeResponse {
			t.Helper()
			out, err := client.Synchronize(t.Context(), &warptunev1.SynchronizeRequest{
				Worker: &warptunev1.WorkerIdentity{Id: name, Epoch: 1, Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}},
				Want:   want, Reports: reports, Coordinator: c.Incarnation(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	report := func(g *warptunev1.Grant) *warptunev1.Report {
		o := tunertest.OracleAt(g.GetLevel(), g.GetIndex())
		return &warptunev1.Report{Lease: g.GetLease(), Result: &warptunev1.Report_Outcome{Outcome: FromOutcome(&o)}}
	}
	wendy, mallory := call(one), call(other)
	grants := wendy("w", 1).GetGrants()
	status := mallory("w", 0, report(grants[0])).GetAcknowledgements()[0].GetStatus()
	if (status == warptunev1.ReportStatus_REPORT_STATUS_REFUSED) != told {
		t.Errorf("another caller under the same name and epoch is answered %v", status)
	}
	mallory("m", 0)
	for len(grants) > 0 {
		grants = wendy("w", 1, report(grants[0])).GetGrants()
	}
	if told {
		if again := wendy("alias", 1).GetGrants(); len(again) != 0 {
			t.Errorf("its other name is granted %v", again)
		}
	}
	for _, g := range mallory("m", 1).GetGrants() {
		mallory("m", 0, report(g))
	}
	s, err := c.Sweep(t.Context(), sweep.Sweep.ID)
	if err != nil {
		t.Fatal(err)
	}
	if m := FromSweep(&s); m.GetState() != warptunev1.SweepState_SWEEP_STATE_COMPLETED || m.GetConfirmed() != told || m.GetConfirmedWithin() == told {
		t.Errorf("ended as %v, confirmed %v, by the same credential %v", m.GetState(), m.GetConfirmed(), m.GetConfirmedWithin())
	}
	if told && s.BestWorker != "w@wendy" {
		t.Errorf("the best is of %q", s.BestWorker)
	}
}
