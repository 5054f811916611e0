package rpc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
)

const tokenText = `
# role name token
reader    rita  rrrrrrrrrrrrrrrrrrrr
submitter sam   ssssssssssssssssssss
worker    wendy wwwwwwwwwwwwwwwwwwww
admin     ada   aaaaaaaaaaaaaaaaaaaa
`

var tokenOf = map[Role]string{Reader: "rrrrrrrrrrrrrrrrrrrr", Submitter: "ssssssssssssssssssss", WorkerRole: "wwwwwwwwwwwwwwwwwwww", Admin: "aaaaaaaaaaaaaaaaaaaa"}

func writeFile(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWrongTokensShutTheirHostOut(t *testing.T) {
	tokens, err := LoadTokens(writeFile(t, "tokens", tokenText, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	address, _ := serve(t, Authorize(tokens, hclog.New(&hclog.LoggerOptions{Output: &log}))...)
	const guess = "guessguessguessguess"
	bad := warptunev1.NewSweepServiceClient(dial(t, address, append(ClientOptions(nil), grpc.WithPerRPCCredentials(Bearer(guess, true)))...))
	good := warptunev1.NewSweepServiceClient(dial(t, address, append(ClientOptions(nil), grpc.WithPerRPCCredentials(Bearer(tokenOf[Reader], true)))...))
	if _, err := good.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
		t.Fatal(err)
	}
	for range maxFailures {
		if _, err := bad.List(t.Context(), &warptunev1.ListRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Fatalf("a wrong token is answered %v", err)
		}
	}
	if _, err := bad.List(t.Context(), &warptunev1.ListRequest{}); tuner.KindOf(FromStatus(err)) != tuner.Limit {
		t.Errorf("after %d wrong tokens the host is answered %v", maxFailures, err)
	}
	late := warptunev1.NewSweepServiceClient(dial(t, address, append(ClientOptions(nil), grpc.WithPerRPCCredentials(Bearer(tokenOf[Submitter], true)))...))
	if _, err := late.List(t.Context(), &warptunev1.ListRequest{}); tuner.KindOf(FromStatus(err)) != tuner.Limit {
		t.Errorf("a token that was not welcome before is answered %v: it may be guessed", err)
	}
	if _, err := good.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
		t.Errorf("who was welcome before is answered %v", err)
	}
	if strings.Contains(log.String(), guess) || !strings.Contains(log.String(), "caller refused") {
		t.Errorf("the log is %q", log.String())
	}
}

// Refusals are logged, but nobody fills a disk with them: not who presents
// nothing, and not who may not.
func TestRefusalsDoNotFillTheLog(t *testing.T) {
	tokens, err := LoadTokens(writeFile(t, "tokens", tokenText, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for what, options := range map[string][]grpc.DialOption{
		"nobody": nil, "a worker": {grpc.WithPerRPCCredentials(Bearer(tokenOf[WorkerRole], true))},
	} {
		var log bytes.Buffer
		address, _ := serve(t, Authorize(tokens, hclog.New(&hclog.LoggerOptions{Output: &log}))...)
		client := warptunev1.NewSweepServiceClient(dial(t, address, append(ClientOptions(nil), options...)...))
		for range 10 * maxLogged {
			if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); status.Code(err) != codes.Unauthenticated && status.Code(err) != codes.PermissionDenied {
				t.Fatalf("%s is answered %v", what, err)
			}
		}
		if n := strings.Count(log.String(), "\n"); n != maxLogged+1 || !strings.Contains(log.String(), "is not logged for a minute") {
			t.Errorf("%s fills the log with %d lines:\n%.500s", what, n, log.String())
		}
	}
}

func TestTokenFiles(t *testing.T) {
	for text, says := range map[string]string{
		"reader x":                         ":1: want a role",
		"king x rrrrrrrrrrrrrrrrrrrr":      ":1: the first field is no role",
		"\nreader x secret":                ":2: the token of x has fewer",
		"reader x rrrrrrrrrrrrrrrrrrrr yy": ":1: want a role",
	} {
		if _, err := LoadTokens(writeFile(t, "tokens", text, 0o600)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	if _, err := LoadTokens(writeFile(t, "tokens", tokenText, 0o644)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others can read: %v", err)
	}
	path := writeFile(t, "tokens", tokenText, 0o600)
	tokens, err := LoadTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := tokens.identify(tokenOf[WorkerRole]); !ok || id != (Identity{Name: "wendy", Role: WorkerRole}) {
		t.Errorf("identified %+v", id)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(tokenText, "worker ", "#", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens.checked = tokens.checked.Add(-2 * reread)
	if _, ok := tokens.identify(tokenOf[WorkerRole]); ok {
		t.Error("a revoked token works")
	}
	if _, ok := tokens.identify(tokenOf[Admin]); !ok {
		t.Error("the others do not")
	}
	_ = os.Remove(path)
	tokens.checked = tokens.checked.Add(-2 * reread)
	if _, ok := tokens.identify(tokenOf[Admin]); !ok {
		t.Error("a token does not work while its file is away for a moment")
	}
	tokens.checked, tokens.failing = tokens.checked.Add(-2*reread), tokens.failing.Add(-tokenGrace)
	if _, ok := tokens.identify(tokenOf[Admin]); ok {
		t.Error("a token works without its file")
	}
	if err := (FromStatus(ToStatus(CheckPlaintext("0.0.0.0:80")))); tuner.KindOf(err) != tuner.Invalid {
		t.Errorf("plaintext on all interfaces: %v", err)
	}
	for _, loopback := range []string{"127.0.0.1:80", "localhost:80", "[::1]:80"} {
		if err := CheckPlaintext(loopback); err != nil {
			t.Errorf("plaintext on %s: %v", loopback, err)
		}
	}
}

// authority is a certificate authority made for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	dir  string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, dir: t.TempDir()}
	a.key, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		Subject: pkix.Name{CommonName: "test authority"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, _ = x509.ParseCertificate(der)
	a.write("ca.pem", "CERTIFICATE", der)
	return a
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) write(name, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(a.path(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// issue makes a certificate and returns its files.
func (a *authority) issue(name, role string, change func(*x509.Certificate)) TLSFiles {
	a.t.Helper()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if role != "" {
		uri, _ := url.Parse(rolePrefix + role)
		template.URIs = []*url.URL{uri}
	}
	if change != nil {
		change(template)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	keyDER, _ := x509.MarshalPKCS8PrivateKey(key)
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", keyDER)
	return TLSFiles{Certificate: a.path(name + ".pem"), Key: a.path(name + ".key"), CA: a.path("ca.pem")}
}

// patience is how long anything that is waited for may take on a machine with
// much else to do.
const patience = 2 * time.Minute

func TestMutualTLS(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	serverFiles := a.issue("coordinator", "", nil)
	creds, err := serverFiles.Server()
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, append(Authorize(nil, nil), Credentials(creds))...)
	list := func(files TLSFiles) error {
		client, err := files.Client()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err = warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(client)...)).List(ctx, &warptunev1.ListRequest{})
		return err
	}
	foreign := other.issue("foreign", "admin", nil)
	foreign.CA = a.path("ca.pem")
	for what, c := range map[string]struct {
		files TLSFiles
		code  codes.Code
	}{
		"reader":          {a.issue("rita", "reader", nil), codes.OK},
		"worker":          {a.issue("wendy", "worker", nil), codes.PermissionDenied},
		"no role":         {a.issue("nobody", "", nil), codes.Unauthenticated},
		"unknown role":    {a.issue("king", "king", nil), codes.Unauthenticated},
		"no certificate":  {TLSFiles{CA: a.path("ca.pem")}, codes.Unauthenticated},
		"wrong authority": {foreign, codes.Unavailable},
		"expired":         {a.issue("late", "admin", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), codes.Unavailable},
		"server's":        {a.issue("server", "admin", func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[1:] }), codes.Unavailable},
	} {
		if err := list(c.files); status.Code(err) != c.code {
			t.Errorf("%s: %v, want %v", what, err, c.code)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...)).List(ctx, &warptunev1.ListRequest{}); err == nil {
		t.Error("plaintext is answered")
	}
}

func TestCertificatesAreReadAgain(t *testing.T) {
	a := newAuthority(t)
	files := a.issue("coordinator", "", nil)
	pair := &keyPair{files: files}
	first, err := pair.get()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.Certificate, []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	pair.checked = pair.checked.Add(-2 * reread)
	if during, err := pair.get(); err != nil || during != first {
		t.Errorf("while it is replaced: %v", err)
	}
	a.issue("coordinator", "", nil)
	pair.checked = pair.checked.Add(-2 * reread)
	if second, err := pair.get(); err != nil || slices.Equal(second.Certificate[0], first.Certificate[0]) {
		t.Errorf("afterwards the old one is in use (%v)", err)
	}
	if err := os.Chmod(files.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := files.Server(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
}

// Who certifies the other side is read again, at the server and at a client: one
// is added without a restart, and one that is taken out certifies nobody any more.
func TestAuthoritiesAreReadAgain(t *testing.T) {
	old, next := newAuthority(t), newAuthority(t)
	serverFiles := old.issue("coordinator", "", nil)
	trusted := writeFile(t, "trusted.pem", "", 0o600) // by both sides
	trust := func(authorities ...*authority) {
		t.Helper()
		var text []byte
		for _, a := range authorities {
			pem, err := os.ReadFile(a.path("ca.pem"))
			if err != nil {
				t.Fatal(err)
			}
			text = append(text, pem...)
		}
		if err := os.WriteFile(trusted, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trust(old)
	serverFiles.CA = trusted
	creds, err := serverFiles.Server()
	if err != nil {
		t.Fatal(err)
	}
	address, _ := serve(t, append(Authorize(nil, nil), Credentials(creds))...)
	oldFiles, nextFiles := old.issue("rita", "reader", nil), next.issue("ruth", "reader", nil)
	oldFiles.CA, nextFiles.CA = trusted, trusted
	oldClient, err := oldFiles.Client()
	if err != nil {
		t.Fatal(err)
	}
	nextClient, err := nextFiles.Client()
	if err != nil {
		t.Fatal(err)
	}
	list := func(client credentials.TransportCredentials) codes.Code {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn := dial(t, address, ClientOptions(client)...)
		defer conn.Close()
		_, err := warptunev1.NewSweepServiceClient(conn).List(ctx, &warptunev1.ListRequest{})
		return status.Code(err)
	}
	// eventually waits for files to be looked at again.
	eventually := func(what string, client credentials.TransportCredentials, want codes.Code) {
		t.Helper()
		var got codes.Code
		for until := time.Now().Add(patience); time.Now().Before(until); {
			if got = list(client); got == want {
				return
			}
		}
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	eventually("an authority that is trusted", oldClient, codes.OK)
	eventually("one that is not", nextClient, codes.Unavailable)
	trust(old, next)
	eventually("one that is added", nextClient, codes.OK)
	eventually("the other one", oldClient, codes.OK)
	// The coordinator gets a certificate of the new authority, and the old one goes.
	fresh := next.issue("coordinator", "", nil)
	for from, to := range map[string]string{fresh.Certificate: serverFiles.Certificate, fresh.Key: serverFiles.Key} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	trust(next)
	eventually("one that is taken out", oldClient, codes.Unavailable)
	eventually("the one that is left", nextClient, codes.OK)
}

// A certificate that ends while its connection lasts is of no use any more.
func TestCertificateEndsInMidConnection(t *testing.T) {
	a := newAuthority(t)
	files := a.issue("rita", "reader", nil)
	pair, err := (&keyPair{files: files}).get()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certificateIdentity(pair.Leaf); err != nil {
		t.Errorf("a valid one: %v", err)
	}
	pair.Leaf.NotAfter = time.Now().Add(-time.Second)
	if _, err := certificateIdentity(pair.Leaf); tuner.KindOf(err) != tuner.Unauthenticated {
		t.Errorf("one that has ended: %v", err)
	}
}

func TestCallsAreLimited(t *testing.T) {
	address, _ := serve(t, LimitCalls(5)...)
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	var limited error
	for range 40 {
		if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
			limited = err
		}
	}
	if tuner.KindOf(FromStatus(limited)) != tuner.Limit {
		t.Errorf("40 calls at once are answered %v", limited)
	}
	l := &limiter{rate: 10, burst: 20, buckets: map[string]*bucket{}}
	now := time.Unix(0, 0)
	taken := 0
	for i := range 1000 {
		if l.take("a", now.Add(time.Duration(i)*10*time.Millisecond)) {
			taken++
		}
	}
	if taken < 118 || taken > 121 {
		t.Errorf("in 10 s at 10 a second and a burst of 20, %d calls passed", taken)
	}
	if !l.take("b", now) {
		t.Error("another caller has no bucket of its own")
	}
}

// Every error kind arrives as it was sent.
func TestErrorKindsRoundTrip(t *testing.T) {
	for _, kind := range tuner.ErrorKinds() {
		sent := tuner.Errorf(kind, "do a thing", "it is %s", kind)
		got := FromStatus(ToStatus(fmt.Errorf("wrapped: %w", sent)))
		if tuner.KindOf(got) != kind || !strings.Contains(got.Error(), sent.Error()) {
			t.Errorf("%v arrives as %v of kind %v", sent, got, tuner.KindOf(got))
		}
		if code := status.Code(ToStatus(sent)); code == codes.Unknown || code == codes.OK {
			t.Errorf("%v has the code %v", kind, code)
		}
	}
	if ToStatus(nil) != nil || FromStatus(nil) != nil {
		t.Error("no error becomes one")
	}
}
