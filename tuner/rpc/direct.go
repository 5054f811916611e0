package rpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// direct calls a server's handlers without a wire in between.
type direct struct {
	// Constant fields.
	methods   map[string]method
	intercept grpc.UnaryServerInterceptor
	stopped   context.Context // done when calls under way must end
	cancel    context.CancelFunc

	// Mutable fields, under mu.
	mu     sync.Mutex
	closed bool // no more calls
	calls  sync.WaitGroup
}

// method is a handler and what it belongs to.
type method struct {
	service any
	handle  grpc.MethodHandler
}

func newDirect(intercept grpc.UnaryServerInterceptor) *direct {
	d := &direct{methods: map[string]method{}, intercept: intercept}
	d.stopped, d.cancel = context.WithCancel(context.Background())
	return d
}

// RegisterService is in grpc.ServiceRegistrar.
func (d *direct) RegisterService(s *grpc.ServiceDesc, service any) {
	for i := range s.Methods {
		d.methods["/"+s.ServiceName+"/"+s.Methods[i].MethodName] = method{service, s.Methods[i].Handler}
	}
}

// call calls a method; false if it has none of that name, or takes no more
// calls.
func (d *direct) call(ctx context.Context, name string, in, out proto.Message) (served bool, err error) {
	m, ok := d.methods[name]
	if !ok || !d.begin() {
		return false, nil
	}
	defer d.calls.Done()
	if err := ctx.Err(); err != nil {
		return true, status.FromContextError(err).Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.stopped, cancel)()
	reply, err := m.handle(m.service, ctx, func(request any) error {
		share(request.(proto.Message), in)
		return nil
	}, d.intercept)
	if err != nil {
		if d.stopped.Err() != nil {
			return true, status.Error(codes.Unavailable, "the server was stopped")
		}
		if _, ok := status.FromError(err); !ok {
			err = status.FromContextError(err).Err()
		}
		return true, err
	}
	share(out, reply.(proto.Message))
	return true, nil
}

func (d *direct) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	d.calls.Add(1)
	return true
}

// close refuses further calls.
func (d *direct) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// share makes to a message with the same content as from, which both hold from
// then on.
func share(to, from proto.Message) {
	dst, src := to.ProtoReflect(), from.ProtoReflect()
	src.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		dst.Set(field, v)
		return true
	})
	dst.SetUnknown(src.GetUnknown())
}

// Serve is grpc.Server's, and lets clients of a Memory call directly.
func (s *Server) Serve(l net.Listener) error {
	if m, ok := l.(*memoryListener); ok {
		m.servedBy(s.direct)
		defer m.servedBy(nil)
	}
	return s.Server.Serve(l)
}

// Stop ends calls under way, and serving.
func (s *Server) Stop() {
	if s.direct != nil {
		s.direct.close()
		s.direct.cancel()
	}
	s.Server.Stop()
}

// GracefulStop ends serving once calls under way have ended.
func (s *Server) GracefulStop() {
	if s.direct != nil {
		s.direct.close()
		s.direct.calls.Wait()
	}
	s.Server.GracefulStop()
}
