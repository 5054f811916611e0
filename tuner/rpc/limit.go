package rpc

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
)

// limiter bounds the calls of each caller by a bucket of tokens that refills
// at a steady rate.
type limiter struct {
	rate, burst float64

	mu      sync.Mutex
	buckets map[string]*bucket // by caller
}

type bucket struct {
	left float64
	at   time.Time
}

// refill fills a bucket by what has become due.
func (b *bucket) refill(now time.Time, rate, burst float64) {
	if now.After(b.at) {
		b.left = min(burst, b.left+now.Sub(b.at).Seconds()*rate)
		b.at = now
	}
}

// LimitCalls returns server options that allow each caller at each host perSecond
// calls a second and bursts of twice as many. It follows Authorize, which says
// who calls; workers of several hosts may share one name.
func LimitCalls(perSecond float64) []grpc.ServerOption {
	l := &limiter{rate: perSecond, burst: 2 * perSecond, buckets: map[string]*bucket{}}
	check := func(ctx context.Context) error {
		who := hostOf(ctx)
		if id, ok := Caller(ctx); ok {
			who = id.Name + " at " + who
		}
		if !l.take(who, time.Now()) {
			return ToStatus(tuner.Errorf(tuner.Limit, "limit calls", "%s makes more than %g calls a second: slow down", who, l.rate))
		}
		return nil
	}
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := check(ctx); err != nil {
				return nil, err
			}
			return handler(ctx, req)
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := check(stream.Context()); err != nil {
				return err
			}
			return handler(srv, stream)
		}),
	}
}

// take takes one token of a caller's bucket; false if it is empty.
func (l *limiter) take(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.buckets) > 10000 { // those that are full again are as good as new
		for name, b := range l.buckets {
			if b.left+now.Sub(b.at).Seconds()*l.rate >= l.burst {
				delete(l.buckets, name)
			}
		}
	}
	b := l.buckets[who]
	if b == nil {
		b = &bucket{left: l.burst, at: now}
		l.buckets[who] = b
	}
	b.refill(now, l.rate, l.burst)
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}
