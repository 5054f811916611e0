package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

// authorities are the certificates of who certifies the other side, read again
// when their file changes: one is added before the other side gets certificates of
// it, and one that is not trusted any more taken out.
type authorities struct {
	path string

	mu      sync.Mutex
	checked time.Time
	stamp   string
	pool    *x509.CertPool
}

func newAuthorities(path string) (*authorities, error) {
	pool, err := readPool(path)
	if err != nil {
		return nil, err
	}
	// What changed since it was read has another stamp, but for the first read, so
	// that one is not kept.
	return &authorities{path: path, pool: pool}, nil
}

// get returns who is trusted now. While the file makes no sense, as when it is
// being replaced, that is who was.
func (a *authorities) get() *x509.CertPool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); now.Sub(a.checked) > reread {
		a.checked = now
		if stamp := stampOf(a.path); stamp != a.stamp {
			if pool, err := readPool(a.path); err == nil {
				a.pool, a.stamp = pool, stamp
			}
		}
	}
	return a.pool
}

func readPool(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s has no certificate in PEM form", path)
	}
	return pool, nil
}

// trusting are a client's credentials that trust, at each connection, who is
// trusted then.
type trusting struct {
	credentials.TransportCredentials
	config      *tls.Config
	authorities *authorities
}

// ClientHandshake is in credentials.TransportCredentials.
func (t trusting) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	config := t.config.Clone()
	config.RootCAs = t.authorities.get()
	return credentials.NewTLS(config).ClientHandshake(ctx, authority, conn)
}

// Clone is in credentials.TransportCredentials.
func (t trusting) Clone() credentials.TransportCredentials { return t }
