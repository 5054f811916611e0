package intake

import (
	"context"
	"path"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
)

// maxAdmitted is how many calls with reports are worked on at a time: enough for one commit to gather while another
// is under way. What a message is read into is several times as large, and lives until the commit. If a thousand
// workers report at once, collecting that garbage takes more time than anything else, and a commit that answers
// them all makes everybody else wait. So the messages beyond these wait unread.
const maxAdmitted = 192

// Admission has a place for each call that is worked on.
type Admission struct{ places chan struct{} }

// NewAdmission returns places that are free.
func NewAdmission() *Admission { return &Admission{places: make(chan struct{}, maxAdmitted)} }

// admitted is a Synchronize call, which takes a place if it reports.
type admitted struct {
	ctx     context.Context
	message *warptunev1.SynchronizeRequest
	places  chan struct{}
	placed  bool
}

// admittedKey is the key of an *admitted in a context.
type admittedKey struct{}

// Describe returns a service's description with Synchronize admitted.
func (a *Admission) Describe(s grpc.ServiceDesc) *grpc.ServiceDesc {
	methods := make([]grpc.MethodDesc, len(s.Methods))
	for i, m := range s.Methods {
		if m.MethodName == path.Base(warptunev1.WorkerService_Synchronize_FullMethodName) {
			m.Handler = a.handler(m.Handler)
		}
		methods[i] = m
	}
	s.Methods = methods
	return &s
}

// handler is next, but has the codec read the message into an *admitted: only
// there it is known to have come, however slow its client, and to be long.
func (a *Admission) handler(next grpc.MethodHandler) grpc.MethodHandler {
	return func(service any, ctx context.Context, read func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		call := &admitted{ctx: ctx, places: a.places}
		defer call.leave()
		return next(service, context.WithValue(ctx, admittedKey{}, call), func(m any) error {
			call.message = m.(*warptunev1.SynchronizeRequest)
			return read(call)
		}, intercept)
	}
}

// enter waits for a place.
func (c *admitted) enter() error {
	select {
	case c.places <- struct{}{}:
		c.placed = true
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

// leave gives the place to another call.
func (c *admitted) leave() {
	if c.placed {
		c.placed = false
		<-c.places
	}
}

// LeavePlace gives the place of the call with this context to another: it waits
// for something else than a commit.
func LeavePlace(ctx context.Context) {
	if c, ok := ctx.Value(admittedKey{}).(*admitted); ok {
		c.leave()
	}
}
