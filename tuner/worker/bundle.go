package worker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// maxCached is how many bundles are kept, and keptBytes how much of them beside
// one that is fetched.
const (
	maxCached = 16
	keptBytes = 128 << 20
)

// maxBundle is the most bytes of a bundle that are read.
const maxBundle = 64 << 20

// bundles fetches kernel bundles by digest and keeps some. It is safe for
// concurrent use.
type bundles struct {
	client     warptunev1.WorkerServiceClient
	maxBackoff time.Duration

	mu     sync.Mutex
	cached map[string]*fetch
}

// fetch is a bundle that is or was fetched.
type fetch struct {
	done    chan struct{} // closed once content or err is set
	content []byte
	err     error
}

// over reports whether the transfer has ended.
func (f *fetch) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// bytes is how long the bundle is, once it is there.
func (f *fetch) bytes() int {
	if f.over() {
		return len(f.content)
	}
	return 0
}

func newBundles(client warptunev1.WorkerServiceClient, maxBackoff time.Duration) *bundles {
	return &bundles{client: client, maxBackoff: maxBackoff, cached: map[string]*fetch{}}
}

// get returns a bundle's content. Several callers share one transfer.
func (b *bundles) get(ctx context.Context, digest string) ([]byte, error) {
	for {
		b.mu.Lock()
		f := b.cached[digest]
		mine := f == nil
		if mine {
			f = &fetch{done: make(chan struct{})}
			b.evict()
			b.cached[digest] = f
		}
		b.mu.Unlock()
		if mine {
			f.content, f.err = b.fetch(ctx, digest)
			if f.err != nil {
				b.mu.Lock()
				delete(b.cached, digest)
				b.mu.Unlock()
			}
			close(f.done)
			return f.content, f.err
		}
		select {
		case <-f.done:
			if f.err == nil || !errors.Is(f.err, context.Canceled) {
				return f.content, f.err
			}
			// Whoever fetched it was cancelled; that is not our fault.
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// evict makes room for one more bundle.
func (b *bundles) evict() {
	bytes := 0
	for _, f := range b.cached {
		bytes += f.bytes()
	}
	for digest, f := range b.cached {
		if len(b.cached) < maxCached && bytes <= keptBytes {
			return
		}
		if n := f.bytes(); f.over() {
			delete(b.cached, digest)
			bytes -= n
		}
	}
}

// fetch transfers a bundle, trying again while the coordinator is away.
func (b *bundles) fetch(ctx context.Context, digest string) ([]byte, error) {
	pause := 50 * time.Millisecond
	for {
		content, err := FetchBundle(ctx, b.client, digest)
		if err == nil || ctx.Err() != nil {
			return content, errors.Join(err, ctx.Err())
		}
		switch tuner.KindOf(err) {
		case tuner.Unavailable, tuner.DiskFull, tuner.Limit, tuner.Denied, tuner.Unauthenticated: // it was welcome before
		default:
			return nil, err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause/2+1))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		pause = min(2*pause, b.maxBackoff)
	}
}

// FetchBundle fetches a kernel bundle, once.
func FetchBundle(ctx context.Context, client warptunev1.WorkerServiceClient, digest string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx) // ends the stream, however far it is read
	defer cancel()
	stream, err := client.GetBundle(ctx, &warptunev1.GetBundleRequest{Digest: digest})
	if err != nil {
		return nil, rpc.FromStatus(err)
	}
	var content []byte
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, rpc.FromStatus(err)
		}
		if content = append(content, m.GetChunk()...); len(content) > maxBundle {
			return nil, tuner.Errorf(tuner.Damaged, "fetch bundle", "it has more than %d bytes", maxBundle)
		}
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != digest {
		return nil, tuner.Errorf(tuner.Damaged, "fetch bundle", "the content has the digest %x, not %s", sum, digest)
	}
	return content, nil
}
