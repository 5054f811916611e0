package worker

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
)

// Known finds outcomes by digest (tuner.Outcome.Digest), so that an evaluator
// that knows a question's digest before it evaluates need not evaluate what
// was evaluated under another name: another sweep, a source that differs in
// comments, macros that lead to the same PTX. It asks the coordinator and
// remembers what this process found out itself. It is safe for concurrent use.
type Known struct {
	client warptunev1.WorkerServiceClient

	mu       sync.Mutex
	recent   map[string]tuner.Outcome
	previous map[string]tuner.Outcome // the generation before recent
}

// Bounds on Known.
const (
	maxRecent     = 4096
	lookupTimeout = 2 * time.Second
)

// NewKnown returns what is known at the other end of conn.
func NewKnown(conn grpc.ClientConnInterface) *Known {
	return &Known{client: warptunev1.NewWorkerServiceClient(conn), recent: map[string]tuner.Outcome{}}
}

// Find returns the outcome known under a digest. When the coordinator does not
// answer, nothing is known.
func (k *Known) Find(ctx context.Context, digest string) (tuner.Outcome, bool) {
	if digest == "" {
		return tuner.Outcome{}, false
	}
	k.mu.Lock()
	o, ok := k.recent[digest]
	if !ok {
		o, ok = k.previous[digest]
	}
	k.mu.Unlock()
	if ok {
		o = o.Clone()
		o.Found = true
		return o, true
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	reply, err := k.client.Lookup(ctx, &warptunev1.LookupRequest{Digests: []string{digest}})
	if err != nil || len(reply.GetOutcomes()) != 1 {
		return tuner.Outcome{}, false
	}
	o = rpc.ToOutcome(reply.GetOutcomes()[0])
	if !o.Validity.Valid() || o.Digest != digest {
		return tuner.Outcome{}, false
	}
	o.Found = true
	return o, true
}

// Note remembers an outcome that this process came to. A timeout says more of
// the machine than of the question, and is not remembered.
func (k *Known) Note(o tuner.Outcome) {
	if o.Digest == "" || o.Validity == tuner.Timeout || o.Found {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.recent) >= maxRecent {
		k.previous, k.recent = k.recent, map[string]tuner.Outcome{}
	}
	k.recent[o.Digest] = o.Clone()
}
