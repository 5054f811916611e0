package rpc

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/warptune/warptune/tuner"
)

// ConnectionLimits bound the connections to a server.
type ConnectionLimits struct {
	// Total is the most that are open; more are closed at once.
	Total int
	// PerHost is the most of one host that are served: calls over more of them
	// are refused by name, and past twice as many they are closed at once.
	PerHost int
}

// Limit returns a listener that counts l's connections, and the server options
// that refuse calls over those that are too many.
func (c ConnectionLimits) Limit(l net.Listener, log hclog.Logger) (net.Listener, []grpc.ServerOption) {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	counted := &countingListener{Listener: l, limits: c, log: log, hosts: map[string]int{}}
	return counted, []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := c.check(ctx); err != nil {
				return nil, err
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := c.check(stream.Context()); err != nil {
				return err
			}
			return handler(srv, stream)
		}),
	}
}

// check refuses a call over a connection that is one too many.
func (c ConnectionLimits) check(ctx context.Context) error {
	if p, ok := peer.FromContext(ctx); ok {
		if a, ok := p.Addr.(countedAddr); ok && a.excess {
			return ToStatus(tuner.Errorf(tuner.Limit, "limit connections", "%s has more than %d connections: close some", hostOf(ctx), c.PerHost))
		}
	}
	return nil
}

// countingListener counts open connections, in all and by host.
type countingListener struct {
	// Constant fields.
	net.Listener
	limits ConnectionLimits
	log    hclog.Logger

	// Mutable fields, under mu.
	mu     sync.Mutex
	open   int
	hosts  map[string]int
	warned time.Time
}

// Accept is in net.Listener.
func (l *countingListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.count(conn, time.Now()); counted != nil {
			return counted, nil
		}
		_ = conn.Close()
	}
}

// count counts a connection; nil: it is to be closed.
func (l *countingListener) count(conn net.Conn, now time.Time) net.Conn {
	host := hostOfAddr(conn.RemoteAddr())
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.limits.Total || l.hosts[host] >= 2*l.limits.PerHost {
		if now.Sub(l.warned) >= time.Second {
			l.warned = now
			l.log.Warn("connection refused: too many are open", "peer", host, "of_peer", l.hosts[host], "open", l.open)
		}
		return nil
	}
	l.open++
	l.hosts[host]++
	return &countedConn{
		Conn: conn, addr: countedAddr{Addr: conn.RemoteAddr(), excess: l.hosts[host] > l.limits.PerHost},
		release: sync.OnceFunc(func() { l.release(host) }),
	}
}

func (l *countingListener) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

// countedConn is a connection that is counted until it is closed.
type countedConn struct {
	net.Conn
	addr    countedAddr
	release func()
}

// countedAddr tells, wherever a call's peer is known, whether its connection is
// one too many, and what counts its frames.
type countedAddr struct {
	net.Addr
	excess bool
	meter  *frameMeter // nil: nobody does
}

// RemoteAddr is in net.Conn.
func (c *countedConn) RemoteAddr() net.Addr { return c.addr }

// Close is in net.Conn.
func (c *countedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
