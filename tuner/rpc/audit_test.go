package rpc

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/tunertest"
)

// bearing connects with the token of the test's tokens that somebody has.
func bearing(t *testing.T, address, token string) warptunev1.SweepServiceClient {
	return warptunev1.NewSweepServiceClient(dial(t, address, append(ClientOptions(nil), grpc.WithPerRPCCredentials(Bearer(token, true)))...))
}

// stored stores the bundle of a test.
func stored(t *testing.T, c *coordinator.Coordinator, b tunertest.Bundle) {
	t.Helper()
	content, digest := b.Content()
	if err := c.PutBundle(context.Background(), digest, content); err != nil {
		t.Fatal(err)
	}
}

// acts reads all that somebody is told of the audit log, oldest first, in pages.
func acts(t *testing.T, client warptunev1.SweepServiceClient, id string, size int64) []*warptunev1.Act {
	t.Helper()
	var all []*warptunev1.Act
	for m := (&warptunev1.AuditRequest{Id: id, PageSize: size}); ; {
		page, err := client.Audit(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.GetActs()...)
		if m.PageToken = page.GetNextPageToken(); m.PageToken == "" {
			slices.Reverse(all)
			return all
		}
	}
}

// The log says who called, by token or by certificate, and from where. A submitter
// is told of what is his, an admin of all, a reader of nothing; no token is in it.
func TestAuditSaysWho(t *testing.T) {
	text := tokenText + "submitter bob   bbbbbbbbbbbbbbbbbbbb\n"
	tokens, err := LoadTokens(writeFile(t, "tokens", text, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	address, c := serve(t, Authorize(tokens, nil)...)
	sam, bob, ada := bearing(t, address, tokenOf[Submitter]), bearing(t, address, "bbbbbbbbbbbbbbbbbbbb"), bearing(t, address, tokenOf[Admin])
	ids := map[string]string{}
	for i, who := range []warptunev1.SweepServiceClient{sam, bob} {
		b := tunertest.Bundle{Size: int64(20 + i)}
		stored(t, c, b)
		spec := b.Spec("test")
		out, err := who.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: FromSpec(&spec)})
		if err != nil {
			t.Fatal(err)
		}
		ids[[]string{"sam", "bob"}[i]] = out.GetSweep().GetId()
		if owner := out.GetSweep().GetOwner(); owner != []string{"sam", "bob"}[i] {
			t.Errorf("the sweep is %q's", owner)
		}
	}
	if _, err := ada.Cancel(t.Context(), &warptunev1.CancelRequest{Id: ids["sam"]}); err != nil {
		t.Fatal(err)
	}
	if _, err := bob.Pause(t.Context(), &warptunev1.PauseRequest{Id: ids["sam"]}); status.Code(err) != codes.PermissionDenied || !strings.Contains(err.Error(), "only sam or an admin may pause it") {
		t.Errorf("bob pauses what is sam's: %v", err)
	}
	short := func(all []*warptunev1.Act) string {
		var out []string
		for _, a := range all {
			out = append(out, strings.TrimSpace(a.GetBy().GetName()+"/"+a.GetBy().GetRole()+" "+a.GetWhat()+" "+a.GetOwner()+" "+a.GetRefused()))
			if by := a.GetBy(); by.GetName() != "" && by.GetAddress() != "127.0.0.1" || strings.Contains(a.String(), "ssssssss") {
				t.Errorf("%v", a)
			}
		}
		return strings.Join(out, "; ")
	}
	const his = "sam/submitter submit sam; ada/admin cancel sam; bob/submitter pause sam denied"
	if got := short(acts(t, sam, "", 0)); got != his {
		t.Errorf("sam is told %q, want %q", got, his)
	}
	if got := short(acts(t, bob, "", 0)); got != "bob/submitter submit bob; bob/submitter pause sam denied" {
		t.Errorf("bob is told %q", got)
	}
	for _, size := range []int64{0, 1, 2} {
		if got := short(acts(t, ada, ids["sam"][:10], size)); got != his {
			t.Errorf("of sam's sweep ada is told %q in pages of %d", got, size)
		}
		if got, want := short(acts(t, ada, "", size)), "/ start; / put bundle; sam/submitter submit sam; / put bundle; bob/submitter submit bob; ada/admin cancel sam; bob/submitter pause sam denied"; got != want {
			t.Errorf("ada is told %q in pages of %d, want %q", got, size, want)
		}
	}
	if _, err := bearing(t, address, tokenOf[Reader]).Audit(t.Context(), &warptunev1.AuditRequest{}); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a reader is answered %v", err)
	}
	for _, wrong := range []*warptunev1.AuditRequest{{PageSize: -1}, {PageToken: "0"}, {PageToken: "?"}} {
		if _, err := ada.Audit(t.Context(), wrong); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%v is answered %v", wrong, err)
		}
	}
}

// What somebody's role may not is recorded, by what he wanted to do; some a minute of one
// caller, whatever he wanted. Who presents nothing valid is in no audit log.
func TestDeniedRolesAreRecorded(t *testing.T) {
	tokens, err := LoadTokens(writeFile(t, "tokens", tokenText, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, Authorize(tokens, nil)...)
	reader, worker, ada := bearing(t, address, tokenOf[Reader]), bearing(t, address, tokenOf[WorkerRole]), bearing(t, address, tokenOf[Admin])
	denied := func(err error) {
		t.Helper()
		if status.Code(err) != codes.PermissionDenied {
			t.Errorf("answered %v", err)
		}
	}
	told := func(n int) (all []string) {
		t.Helper()
		for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			all = nil
			for _, a := range acts(t, ada, "", 0) {
				if a.GetWhat() != tuner.ActStart {
					all = append(all, a.GetBy().GetName()+"/"+a.GetBy().GetRole()+" "+a.GetWhat()+" "+a.GetRefused())
				}
			}
			if len(all) >= n {
				return all
			}
			if time.Now().After(until) {
				t.Fatalf("recorded are %q, want %d", all, n)
			}
		}
	}
	if _, err := ada.List(t.Context(), &warptunev1.ListRequest{}); err != nil { // what is allowed is not
		t.Fatal(err)
	}
	_, err = bearing(t, address, "wrongwrongwrongwrong").Delete(t.Context(), &warptunev1.DeleteRequest{Id: "abc"})
	if status.Code(err) != codes.Unauthenticated {
		t.Errorf("answered %v", err)
	}
	_, err = reader.Delete(t.Context(), &warptunev1.DeleteRequest{Id: "abc"})
	denied(err)
	told(1)
	_, err = worker.Submit(t.Context(), &warptunev1.SubmitRequest{})
	denied(err)
	told(2)
	_, err = worker.List(t.Context(), &warptunev1.ListRequest{})
	denied(err)
	want := []string{"rita/reader delete denied", "wendy/worker submit denied", "wendy/worker call denied"}
	if got := told(3); !slices.Equal(got, want) {
		t.Errorf("recorded are %q, want %q", got, want)
	}
	for range 50 {
		_, err := reader.Delete(t.Context(), &warptunev1.DeleteRequest{Id: "abc"})
		denied(err)
	}
	told(22)
	if _, err := ada.Cancel(t.Context(), &warptunev1.CancelRequest{Id: "abc"}); status.Code(err) != codes.NotFound {
		t.Errorf("answered %v", err)
	}
	if got := told(22); len(got) != 22 {
		t.Errorf("%d are recorded: %q", len(got), got)
	}
}

func TestAuditNamesCertificates(t *testing.T) {
	a := newAuthority(t)
	server, err := a.issue("coordinator", "", nil).Server()
	if err != nil {
		t.Fatal(err)
	}
	address, c := serve(t, append(Authorize(nil, nil), Credentials(server))...)
	certified := func(name string, change func(*x509.Certificate)) warptunev1.SweepServiceClient {
		var client credentials.TransportCredentials
		if client, err = a.issue(name, "submitter", change).Client(); err != nil {
			t.Fatal(err)
		}
		return warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(client)...))
	}
	b := tunertest.Bundle{Size: 20}
	stored(t, c, b)
	spec := b.Spec("test")
	ann := certified("ann", func(c *x509.Certificate) { c.Subject.Organization = []string{"lab"} })
	if _, err := ann.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: FromSpec(&spec)}); err != nil {
		t.Fatal(err)
	}
	all := acts(t, ann, "", 0)
	if len(all) != 1 || all[0].GetOwner() != "ann" || all[0].GetBy().GetCertificate() != "CN=ann,O=lab" {
		t.Errorf("ann is told %v", all)
	}
}

// Who has a certificate without a subject has a name nevertheless, which is his alone and
// outlasts the certificate where the key does: his sweeps are his, and he is told of
// nothing else.
func TestCertificatesWithoutSubject(t *testing.T) {
	a := newAuthority(t)
	server, err := a.issue("coordinator", "", nil).Server()
	if err != nil {
		t.Fatal(err)
	}
	address, c := serve(t, append(Authorize(nil, nil), Credentials(server))...)
	nobody := func(name string, sans ...string) warptunev1.SweepServiceClient {
		client, err := a.issue(name, "submitter", func(c *x509.Certificate) { c.Subject, c.DNSNames = pkix.Name{}, sans }).Client()
		if err != nil {
			t.Fatal(err)
		}
		return warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(client)...))
	}
	names := map[string]bool{}
	for i, who := range []warptunev1.SweepServiceClient{nobody("first"), nobody("second"), nobody("third", "ci.lab.example")} {
		b := tunertest.Bundle{Size: int64(20 + i)}
		stored(t, c, b) // an act without an owner
		spec := b.Spec("test")
		out, err := who.Submit(t.Context(), &warptunev1.SubmitRequest{Spec: FromSpec(&spec)})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"warptune:role:submitter sha256:", "warptune:role:submitter sha256:", "ci.lab.example sha256:"}[i]
		owner := out.GetSweep().GetOwner()
		if !strings.HasPrefix(owner, want) || names[owner] {
			t.Errorf("the sweep is %q's, after %v", owner, names)
		}
		names[owner] = true
		all := acts(t, who, "", 0)
		if len(all) != 1 || all[0].GetOwner() != owner || all[0].GetBy().GetName() != owner || all[0].GetBy().GetCertificate() == "" {
			t.Errorf("%s is told %v", owner, all)
		}
	}
	if mayRead(context.WithValue(t.Context(), identityKey{}, Identity{Role: Submitter}), &tuner.Act{What: tuner.ActStart}) {
		t.Error("who has no name is told of what nobody did")
	}
}
