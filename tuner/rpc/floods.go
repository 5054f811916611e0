package rpc

import (
	"context"
	"maps"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/peer"
)

// Who is sent away may come back at once, over as many connections as a host may
// have. So the connections of a host of which no call was answered yet share a
// bucket, too; while it is empty each waits a little for what it sends. Clients of
// that host whose calls are answered have no part in it.
const (
	strangerBurst   = 20_000 // frames: hundreds of workers of one host may start at once
	strangerRate    = 4000   // frames a second
	strangerWait    = 2 * time.Second
	strangerPortion = 512 // bytes read at a time while it is empty
	framesOfConn    = 20  // what making a connection costs
)

// strangers are the connections of one host of which no call was answered yet.
type strangers struct {
	mu   sync.Mutex
	left bucket
}

// spend takes frames out and says what is to be waited for.
func (s *strangers) spend(frames float64, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left.refill(now, strangerRate, strangerBurst)
	s.left.left = max(min(s.left.left-frames, strangerBurst), -strangerRate*strangerWait.Seconds())
	if s.left.left >= 0 {
		return 0
	}
	return time.Duration(-s.left.left / strangerRate * float64(time.Second))
}

// floodgate meters the connections of a server.
type floodgate struct {
	credentials.TransportCredentials
	hosts *hosts
}

// hosts knows the strangers of each host.
type hosts struct {
	log hclog.Logger

	mu        sync.Mutex
	strangers map[string]*strangers
	warned    time.Time
}

// at returns those of a host.
func (h *hosts) at(host string, now time.Time) *strangers {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.strangers) > 10000 { // those that are full again are as good as new
		maps.DeleteFunc(h.strangers, func(_ string, s *strangers) bool { return s.full(now) })
	}
	s := h.strangers[host]
	if s == nil {
		s = &strangers{left: bucket{left: strangerBurst, at: now}}
		h.strangers[host] = s
	}
	return s
}

// warn says, once a second, that a connection is cut.
func (h *hosts) warn(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); now.Sub(h.warned) >= time.Second {
		h.warned = now
		h.log.Warn("connection cut", "peer", host, "reason", errFrames)
	}
}

// full reports whether nothing is missing of the bucket.
func (s *strangers) full(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left.refill(now, strangerRate, strangerBurst)
	return s.left.left >= strangerBurst
}

// ServerHandshake is in credentials.TransportCredentials.
func (f floodgate) ServerHandshake(raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	address := raw.RemoteAddr()
	if address.Network() == "bufconn" { // within the process
		return f.TransportCredentials.ServerHandshake(raw)
	}
	now, host := time.Now(), hostOfAddr(address)
	s := f.hosts.at(host, now)
	time.Sleep(s.spend(framesOfConn, now))
	conn, info, err := f.TransportCredentials.ServerHandshake(raw)
	if err != nil {
		return nil, nil, err
	}
	meter := &frameMeter{strangers: s, left: bucket{left: frameBurst, at: now}, spent: framesOfConn}
	counted, ok := address.(countedAddr)
	if !ok {
		counted = countedAddr{Addr: address}
	}
	counted.meter = meter
	closed := make(chan struct{})
	return &meteredConn{
		Conn: conn, addr: counted, meter: meter, closed: closed, close: sync.OnceFunc(func() { close(closed) }),
		cut: func() { f.hosts.warn(host) }, in: frameScanner{skip: len(http2.ClientPreface)},
	}, info, nil
}

// Clone is in credentials.TransportCredentials.
func (f floodgate) Clone() credentials.TransportCredentials {
	return floodgate{f.TransportCredentials.Clone(), f.hosts}
}

// secured is an option by which a server finds its credentials.
type secured struct {
	grpc.EmptyServerOption
	creds credentials.TransportCredentials
}

// Credentials returns the option by which a server's clients connect; without it
// they connect in plaintext.
func Credentials(creds credentials.TransportCredentials) grpc.ServerOption {
	return secured{creds: creds}
}

// limitFrames returns options that count frames, and what calls earn; they follow
// all others, which may refuse calls.
func limitFrames(options []grpc.ServerOption, log hclog.Logger) []grpc.ServerOption {
	creds := insecure.NewCredentials()
	for _, o := range options {
		if s, ok := o.(secured); ok {
			creds = s.creds
		}
	}
	return []grpc.ServerOption{
		grpc.Creds(floodgate{creds, &hosts{log: log, strangers: map[string]*strangers{}}}),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if !allowed(info.FullMethod, anyone) { // who can call nothing else stays unknown
				defer answered(ctx)
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if allowed(info.FullMethod, anyone) {
				return handler(srv, stream)
			}
			defer answered(stream.Context())
			return handler(srv, earning{stream})
		}),
	}
}

// answered notes that a call was answered, or a message sent, unless it was taken back.
func answered(ctx context.Context) {
	if p, ok := peer.FromContext(ctx); ok && ctx.Err() == nil {
		if a, ok := p.Addr.(countedAddr); ok && a.meter != nil {
			a.meter.earn(framesOfCall, true, time.Now())
		}
	}
}

// earning is a stream that earns by its messages.
type earning struct{ grpc.ServerStream }

// SendMsg is in grpc.ServerStream.
func (s earning) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		answered(s.Context())
	}
	return err
}
