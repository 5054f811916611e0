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

// Known finds outcomes by digest (tuner.Outcome.Digest). An evaluator that knows a question's digest before it
// evaluates need not evaluate what was evaluated under another name: another sweep, a source that differs in
// comments, macros that lead to the same PTX. It asks the coordinator and remembers what this process found out
// itself. It is safe for concurrent use.
type Known struct {
	client warptunev1.WorkerServiceClient

	mu       sync.Mutex
	recent   map[string]tuner.Outcome
	previous map[string]tuner.Outcome // the generation before recent
	// asked are answers for questions that are still to come; without a validity,
	// nothing was known. Each is used once.
	asked map[string]tuner.Outcome
}

// Bounds on Known.
const (
	maxRecent     = 4096
	lookupTimeout = 2 * time.Second
)

// NewKnown returns what is known at the other end of conn.
func NewKnown(conn grpc.ClientConnInterface) *Known {
	return &Known{client: warptunev1.NewWorkerServiceClient(conn), recent: map[string]tuner.Outcome{}, asked: map[string]tuner.Outcome{}}
}

// Find returns the outcome known under a digest. When the coordinator does not
// answer, nothing is known. ahead are digests that will be wanted next: if it
// has to be asked, it is asked for those too, since a call costs it the same for
// many.
func (k *Known) Find(ctx context.Context, digest string, ahead ...string) (tuner.Outcome, bool) {
	if digest == "" {
		return tuner.Outcome{}, false
	}
	o, ok := k.here(digest)
	if !ok {
		o = k.ask(ctx, digest, ahead)
	}
	if !o.Validity.Valid() {
		return tuner.Outcome{}, false
	}
	o.Found = true
	return o, true
}

// here returns what is to be said of a digest without asking anybody.
func (k *Known) here(digest string) (tuner.Outcome, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o, ok := k.recent[digest]
	if !ok {
		o, ok = k.previous[digest]
	}
	if ok {
		return o.Clone(), true
	}
	o, ok = k.asked[digest]
	delete(k.asked, digest)
	return o, ok
}

// ask asks the coordinator for the outcome under a digest, and under those ahead.
func (k *Known) ask(ctx context.Context, digest string, ahead []string) tuner.Outcome {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	digests := append([]string{digest}, ahead...)
	reply, err := k.client.Lookup(ctx, &warptunev1.LookupRequest{Digests: digests})
	if err != nil || len(reply.GetOutcomes()) != len(digests) {
		return tuner.Outcome{}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.asked) > maxRecent { // of questions that never came
		clear(k.asked)
	}
	for i, d := range digests {
		o := rpc.ToOutcome(reply.GetOutcomes()[i])
		if o.Digest != d {
			o = tuner.Outcome{}
		}
		k.asked[d] = o
	}
	o := k.asked[digest]
	delete(k.asked, digest)
	return o
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
