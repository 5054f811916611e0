package cluster

import (
	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/rpc"
)

// Dial makes a client connection to the coordinator at an address (see
// rpc.CheckAddress). Nothing is sent until the first call.
func Dial(address string) (*grpc.ClientConn, error) {
	return rpc.Dial(address, nil, rpc.ClientOptions(nil)...)
}
