package cluster

import (
	"fmt"
	"net"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/rpc"
)

// Dial makes a client connection to a coordinator at HOST:PORT. Nothing is
// sent until the first call.
func Dial(addr string) (*grpc.ClientConn, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("coordinator address %q: want HOST:PORT, e.g. localhost:7070", addr)
	}
	return grpc.NewClient(addr, rpc.ClientOptions(nil)...)
}
