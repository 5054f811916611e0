package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"flag"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/deploy/scale"
	"github.com/warptune/warptune/deploy/scale/externalscaler"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
)

// authority certifies what tests need.
type authority struct {
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	a := &authority{dir: t.TempDir()}
	a.cert = a.issue(t, "ca", &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	return a
}

// issue writes NAME.pem and NAME.key.
func (a *authority) issue(t *testing.T, name string, c *x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c.SerialNumber, c.Subject = big.NewInt(time.Now().UnixNano()), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer, a.key = c, key, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	a.write(t, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	a.write(t, name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func (a *authority) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// security reads flags; DIR in them is the authority's directory.
func (a *authority) security(t *testing.T, server bool, flags string) *Security {
	t.Helper()
	var s Security
	f := flag.NewFlagSet("test", flag.ContinueOnError)
	if server {
		s.ServerFlags(f)
	} else {
		s.ClientFlags(f)
	}
	if err := f.Parse(strings.Fields(strings.ReplaceAll(flags, "DIR", a.dir))); err != nil {
		t.Fatal(err)
	}
	return &s
}

func serveWith(t *testing.T, s *Security) string {
	t.Helper()
	secured, err := s.Server(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rpc.NewServer(c, nil, secured.Options...)
	scale.Register(server, c)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func list(t *testing.T, s *Security, addr string) codes.Code {
	t.Helper()
	conn, err := s.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a busy machine takes a while
	defer cancel()
	_, err = warptunev1.NewSweepServiceClient(conn).List(ctx, &warptunev1.ListRequest{})
	return status.Code(err)
}

// The flags of both sides, and whether a call to list sweeps gets through.
func TestSecurityFlags(t *testing.T) {
	a := newAuthority(t)
	a.issue(t, "server", &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	for _, role := range []string{"reader", "worker"} {
		uri, _ := url.Parse("warptune:role:" + role)
		a.issue(t, role, &x509.Certificate{URIs: []*url.URL{uri}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	}
	a.write(t, "tokens", []byte("reader ann 0123456789abcdef-reader\nworker w1 0123456789abcdef-worker\n"))
	a.write(t, "reader.token", []byte("0123456789abcdef-reader\n"))
	a.write(t, "worker.token", []byte("0123456789abcdef-worker\n"))
	const tls, mutual = "--tls-cert DIR/server.pem --tls-key DIR/server.key", " --tls-ca DIR/ca.pem"
	for _, c := range []struct {
		server, client string
		want           codes.Code
	}{
		{"", "", codes.OK},
		{"--token-file DIR/tokens", "", codes.Unauthenticated},
		{"--token-file DIR/tokens", "--token-file DIR/reader.token", codes.OK}, // loopback
		{"--token-file DIR/tokens", "--token-file DIR/worker.token", codes.PermissionDenied},
		{tls, "--tls-ca DIR/ca.pem", codes.OK},
		{tls, "--tls", codes.Unavailable}, // the system does not trust this authority
		{tls, "", codes.Unavailable},
		{"", "--tls-ca DIR/ca.pem", codes.Unavailable},
		{tls + " --token-file DIR/tokens", "--tls-ca DIR/ca.pem --token-file DIR/reader.token", codes.OK},
		{tls + " --token-file DIR/tokens", "--tls-ca DIR/ca.pem", codes.Unauthenticated},
		{tls + mutual, "--tls-ca DIR/ca.pem", codes.Unauthenticated},
		{tls + mutual, "--tls-ca DIR/ca.pem --tls-cert DIR/reader.pem --tls-key DIR/reader.key", codes.OK},
		{tls + mutual, "--tls-ca DIR/ca.pem --tls-cert DIR/worker.pem --tls-key DIR/worker.key", codes.PermissionDenied},
	} {
		addr := serveWith(t, a.security(t, true, c.server))
		if got := list(t, a.security(t, false, c.client), addr); got != c.want {
			t.Errorf("coordinator %q, client %q: %v, want %v", c.server, c.client, got, c.want)
		}
	}
}

// Readers may ask what KEDA asks, and nobody else.
func TestScalerNeedsARole(t *testing.T) {
	a := newAuthority(t)
	a.write(t, "tokens", []byte("reader keda 0123456789abcdef-reader\nworker w1 0123456789abcdef-worker\n"))
	a.write(t, "reader.token", []byte("0123456789abcdef-reader\n"))
	a.write(t, "worker.token", []byte("0123456789abcdef-worker\n"))
	addr := serveWith(t, a.security(t, true, "--token-file DIR/tokens"))
	for flags, want := range map[string]codes.Code{
		"": codes.Unauthenticated, "--token-file DIR/worker.token": codes.PermissionDenied, "--token-file DIR/reader.token": codes.OK,
	} {
		conn, err := a.security(t, false, flags).Dial(addr)
		if err != nil {
			t.Fatal(err)
		}
		c := externalscaler.NewExternalScalerClient(conn)
		_, active := c.IsActive(t.Context(), &externalscaler.ScaledObjectRef{})
		_, spec := c.GetMetricSpec(t.Context(), &externalscaler.ScaledObjectRef{})
		_, err = c.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{MetricName: "warptune-trials"})
		for _, err := range []error{active, spec, err} {
			if status.Code(err) != want {
				t.Errorf("client %q: %v, want %v", flags, err, want)
			}
		}
		_ = conn.Close()
	}
}

func TestSecurityRefuses(t *testing.T) {
	a := newAuthority(t)
	a.write(t, "token", []byte("0123456789abcdef\n"))
	for flags, says := range map[string]string{
		"--token-file DIR/token":      "everybody on the way",
		"--tls-cert DIR/ca.pem":       "go together",
		"--tls-ca DIR/none":           "none",
		"--tls --token-file DIR/none": "none",
	} {
		if _, err := a.security(t, false, flags).Dial("node1:7070"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("client %q: %v, want %q", flags, err, says)
		}
	}
	for _, flags := range []string{"--tls-ca DIR/ca.pem", "--tls-cert DIR/ca.pem", "--token-file DIR/none", "--tls-cert DIR/ca.pem --tls-key DIR/token"} {
		if _, err := a.security(t, true, flags).Server(nil); err == nil {
			t.Errorf("coordinator %q is taken", flags)
		}
	}
	none, tls := a.security(t, true, ""), a.security(t, true, "--tls-cert x --tls-key y")
	if none.CheckListen("0.0.0.0:7070", false) == nil || none.CheckListen("0.0.0.0:7070", true) != nil || tls.CheckListen("0.0.0.0:7070", false) != nil || none.CheckListen("127.0.0.1:1", false) != nil {
		t.Error("plaintext is refused, or taken, in the wrong place")
	}
}
