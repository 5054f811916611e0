package rpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/tap"

	"github.com/warptune/warptune/tuner"
)

// A message is read before interceptors are asked, and all that has come of it is
// kept until it is whole. So who calls is found out when a call's header has come;
// and what is open to anyone, health, is open to few at a time, who must be quick.

// Bounds on calls of what is open to anyone, whoever calls.
const (
	maxOpen        = 64 // at a time
	maxOpenPerHost = 8
	openTime       = 10 * time.Second
)

// open counts the calls under way of what is open to anyone.
type open struct {
	mu    sync.Mutex
	all   int
	hosts map[string]int
}

// enter counts a call until its context ends; an error if there are too many.
func (o *open) enter(ctx context.Context, host string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all >= maxOpen || o.hosts[host] >= maxOpenPerHost {
		return tuner.Errorf(tuner.Limit, "authorize", "%d calls that need no token are under way, %d of them of %s: at most %d, and %d of a host", o.all, o.hosts[host], host, maxOpen, maxOpenPerHost)
	}
	o.all++
	o.hosts[host]++
	context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all--
		if o.hosts[host]--; o.hosts[host] == 0 {
			delete(o.hosts, host)
		}
	})
	return nil
}

// tap decides about a call when its header has come.
func (g *guard) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	if allowed(info.FullMethodName, anyone) {
		if err := g.open.enter(ctx, hostOf(ctx)); err != nil {
			return ctx, ToStatus(err)
		}
		if info.FullMethodName != grpc_health_v1.Health_Watch_FullMethodName {
			ctx, cancel := context.WithTimeout(ctx, openTime)
			context.AfterFunc(ctx, cancel)
			return ctx, nil
		}
		return ctx, nil
	}
	admitted, err := g.admit(ctx, info.FullMethodName)
	if err != nil {
		return ctx, ToStatus(err)
	}
	return admitted, nil
}
