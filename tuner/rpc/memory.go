package rpc

import (
	"context"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
)

// Memory is a connection inside one process: a listener to serve on, and
// clients to it.
type Memory struct{ listener *memoryListener }

// memoryListener is a pipe to accept streams from, and knows who serves it.
type memoryListener struct {
	*bufconn.Listener
	mu     sync.Mutex
	server *direct // nil: nobody, or only over the pipe
}

func (l *memoryListener) servedBy(d *direct) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server = d
}

func (l *memoryListener) direct() *direct {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

// NewMemory returns a connection that nobody serves yet.
func NewMemory() *Memory {
	return &Memory{listener: &memoryListener{Listener: bufconn.Listen(1 << 20)}}
}

// Listener returns what the server serves on.
func (m *Memory) Listener() net.Listener { return m.listener }

// Dial returns a client connection; close it.
func (m *Memory) Dial() (*MemoryConn, error) {
	return DialMemory(func() *Memory { return m })
}

// DialMemory returns a client connection that connects, and connects again, to
// the Memory that at returns at that time.
func DialMemory(at func() *Memory) (*MemoryConn, error) {
	options := append(ClientOptions(nil), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return at().listener.DialContext(ctx)
	}))
	pipe, err := grpc.NewClient("passthrough:///memory", options...)
	if err != nil {
		return nil, err
	}
	c := &MemoryConn{ClientConn: pipe, at: at}
	c.closed, c.close = context.WithCancel(context.Background())
	return c, nil
}

// MemoryConn is a client's end of a Memory. Calls with one message each way go
// straight to the server's handlers; streams go through a pipe. The messages of
// a call are not copied: neither side may change one that it has sent or
// received.
type MemoryConn struct {
	*grpc.ClientConn
	at     func() *Memory
	closed context.Context // done once it is
	close  context.CancelFunc
}

var _ grpc.ClientConnInterface = (*MemoryConn)(nil)

// Close ends calls under way, and lets none begin.
func (c *MemoryConn) Close() error {
	c.close()
	return c.ClientConn.Close()
}

// Invoke is in grpc.ClientConnInterface.
func (c *MemoryConn) Invoke(ctx context.Context, method string, in, out any, opts ...grpc.CallOption) error {
	request, ok := in.(proto.Message)
	reply, also := out.(proto.Message)
	if ok && also && asksNothing(opts) && c.closed.Err() == nil {
		if d := c.at().listener.direct(); d != nil {
			if served, err := c.straight(ctx, d, method, request, reply); served {
				return err
			}
		}
	}
	return c.ClientConn.Invoke(ctx, method, in, out, opts...)
}

// straight calls a method of d, unless the connection is closed meanwhile.
func (c *MemoryConn) straight(ctx context.Context, d *direct, method string, in, out proto.Message) (served bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closed, cancel)()
	served, err = d.call(ctx, method, in, out)
	if served && c.closed.Err() != nil {
		err = status.Error(codes.Canceled, "the connection is closed")
	}
	return served, err
}

// asksNothing reports whether options ask for nothing: those of generated clients.
func asksNothing(opts []grpc.CallOption) bool {
	for _, o := range opts {
		if _, ok := o.(grpc.StaticMethodCallOption); !ok {
			return false
		}
	}
	return true
}
