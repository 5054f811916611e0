package rpc

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
)

// maxFailures is how many wrong credentials one host may present a minute
// before it is not listened to.
const maxFailures = 10

// maxLogged is how many refusals of one host are logged a minute.
const maxLogged = 20

// guard checks who calls and what they may. Who presents no valid token and no
// certificate of ours is nobody, and may call what is open to anyone.
type guard struct {
	tokens *Tokens // nil: certificates only
	log    hclog.Logger

	open open
	c    *coordinator.Coordinator // records who is denied what; nil: only the log says so

	mu       sync.Mutex
	failures map[string]*failure // by host
	welcome  map[visit]time.Time // when it was so last
}

// visit is somebody at a host.
type visit struct {
	host string
	who  Identity
}

// errNobody answers who presents nothing.
var errNobody = tuner.Errorf(tuner.Unauthenticated, "authorize", "no token and no client certificate: give --token-file or --tls-cert")

// failure is what became of a host's callers since a time, for a minute.
type failure struct {
	since          time.Time
	wrong, refused int // for wrong credentials; in all
}

// Authorize returns server options that admit callers by bearer token, or by
// the role in a verified client certificate, and deny everything else. tokens
// may be nil.
func Authorize(tokens *Tokens, log hclog.Logger) []grpc.ServerOption {
	return NewAuthorizer(tokens, log).Options()
}

// Authorizer admits callers of a server, and of the page beside it: who guesses
// tokens at the one is not listened to at the other.
type Authorizer struct{ guard *guard }

// NewAuthorizer makes one; tokens may be nil.
func NewAuthorizer(tokens *Tokens, log hclog.Logger) *Authorizer {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	return &Authorizer{&guard{tokens: tokens, log: log, failures: map[string]*failure{}, welcome: map[visit]time.Time{}, open: open{hosts: map[string]int{}}}}
}

// Reader says whose a request is that comes from an address with a token ("": none) or
// over TLS, and refuses him who may not look at sweeps.
func (a *Authorizer) Reader(ctx context.Context, address net.Addr, token string, state *tls.ConnectionState) (Identity, error) {
	if token == "" && (state == nil || len(state.VerifiedChains) == 0) {
		return Identity{}, errNobody
	}
	p := &peer.Peer{Addr: address}
	if state != nil {
		p.AuthInfo = credentials.TLSInfo{State: *state}
	}
	md := metadata.MD{}
	if token != "" {
		md.Set("authorization", "Bearer "+token)
	}
	ctx = metadata.NewIncomingContext(peer.NewContext(ctx, p), md)
	ctx, err := a.guard.admit(ctx, warptunev1.SweepService_List_FullMethodName)
	if err != nil {
		return Identity{}, err
	}
	id, _ := Caller(ctx)
	return id, nil
}

// Options are those of Authorize.
func (a *Authorizer) Options() []grpc.ServerOption {
	g := a.guard
	return []grpc.ServerOption{
		guarded{guard: g},
		grpc.InTapHandle(g.tap),
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			ctx, err := g.admit(ctx, info.FullMethod)
			if err != nil {
				return nil, ToStatus(err)
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			ctx, err := g.admit(stream.Context(), info.FullMethod)
			if err != nil {
				return ToStatus(err)
			}
			return handler(srv, identifiedStream{stream, ctx})
		}),
	}
}

// guarded is an option by which a server finds the guard at its door.
type guarded struct {
	grpc.EmptyServerOption
	guard *guard
}

// recordDenials has the guards among options record who is denied what.
func recordDenials(options []grpc.ServerOption, c *coordinator.Coordinator) {
	for _, o := range options {
		if at, ok := o.(guarded); ok {
			at.guard.c = c
		}
	}
}

// identityKey is the key of an Identity in a context.
type identityKey struct{}

// Caller returns who calls, as Authorize found out.
func Caller(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

type identifiedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context is in grpc.ServerStream.
func (s identifiedStream) Context() context.Context { return s.ctx }

// admit decides about one call.
func (g *guard) admit(ctx context.Context, method string) (context.Context, error) {
	if _, admitted := Caller(ctx); admitted || allowed(method, anyone) { // when its header came
		return ctx, nil
	}
	host := hostOf(ctx)
	id, err := g.identify(ctx)
	if !g.hears(visit{host, id}, err == nil) {
		return nil, tuner.Errorf(tuner.Limit, "authorize", "too many wrong credentials from %s: wait a minute", host)
	}
	if err != nil {
		// Who presents nothing guesses nothing.
		g.refused(host, !errors.Is(err, errNobody), "method", method, "reason", err)
		return nil, err
	}
	known := context.WithValue(ctx, identityKey{}, id)
	if !allowed(method, id.Role) {
		g.refused(host, false, "caller", id.Name, "role", id.Role.String(), "method", method)
		err := tuner.Errorf(tuner.Denied, "authorize", "%s has the role %s, which may not call %s", id.Name, id.Role, method)
		if g.c != nil {
			g.c.Denied(calling(known), tuner.Act{What: cmp.Or(changing[method], tuner.ActCall)}, err)
		}
		return nil, err
	}
	return known, nil
}

// identify finds out who calls.
func (g *guard) identify(ctx context.Context) (Identity, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if values := md.Get("authorization"); len(values) > 0 {
		token, ok := strings.CutPrefix(values[0], "Bearer ")
		if ok && g.tokens != nil && len(values) == 1 {
			if id, ok := g.tokens.identify(token); ok {
				return id, nil
			}
		}
		return Identity{}, tuner.Errorf(tuner.Unauthenticated, "authorize", "the token is not valid")
	}
	if p, ok := peer.FromContext(ctx); ok {
		if info, ok := p.AuthInfo.(credentials.TLSInfo); ok && len(info.State.VerifiedChains) > 0 {
			return certificateIdentity(info.State.VerifiedChains[0][0])
		}
	}
	return Identity{}, errNobody
}

func hostOf(ctx context.Context) string {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "unknown"
	}
	return hostOfAddr(p.Addr)
}

// hostOfAddr is an address without its port.
func hostOfAddr(a net.Addr) string {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// remembered is how long who was welcome at a host is so there whatever others
// present from it.
const remembered = time.Hour

// hears reports whether somebody is listened to: not if the host presented too many
// wrong credentials, unless he was welcome there before. valid says that his are.
func (g *guard) hears(v visit, valid bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	f, now := g.failures[v.host], time.Now()
	shut := f != nil && f.wrong >= maxFailures && now.Sub(f.since) < time.Minute
	if !valid {
		return !shut
	}
	if shut && now.Sub(g.welcome[v]) >= remembered {
		return false
	}
	if len(g.welcome) > 10000 {
		clear(g.welcome)
	}
	g.welcome[v] = now
	return true
}

// refused notes that a caller of a host was refused, for wrong credentials or for
// another reason, and logs it unless it was logged often lately: nobody fills a
// disk with refusals.
func (g *guard) refused(host string, wrong bool, details ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.failures) > 10000 {
		clear(g.failures)
	}
	f := g.failures[host]
	if f == nil || time.Since(f.since) >= time.Minute {
		f = &failure{since: time.Now()}
		g.failures[host] = f
	}
	f.refused++
	if wrong {
		f.wrong++
	}
	switch details = append([]any{"peer", host}, details...); {
	case f.refused <= maxLogged:
		g.log.Warn("caller refused", details...)
	case f.refused == maxLogged+1:
		g.log.Warn("caller refused; what else is refused of this peer is not logged for a minute", details...)
	}
}
