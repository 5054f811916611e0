package rpc

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
)

// Memory is a connection inside one process: a listener to serve on, and
// clients to it.
type Memory struct{ listener *bufconn.Listener }

// NewMemory returns a connection that nobody serves yet.
func NewMemory() *Memory { return &Memory{listener: bufconn.Listen(1 << 20)} }

// Listener returns what the server serves on.
func (m *Memory) Listener() net.Listener { return m.listener }

// Dial returns a client connection; close it.
func (m *Memory) Dial() (*grpc.ClientConn, error) {
	return DialMemory(func() *Memory { return m })
}

// DialMemory returns a client connection that connects, and connects again, to
// the Memory that at returns at that time.
func DialMemory(at func() *Memory) (*grpc.ClientConn, error) {
	options := append(ClientOptions(nil), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
		return at().listener.DialContext(ctx)
	}))
	return grpc.NewClient("passthrough:///memory", options...)
}
