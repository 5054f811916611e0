package cluster

import (
	"fmt"
	"net"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/rpc"
)

// CheckAddress says what is wrong with a coordinator's address.
func CheckAddress(addr string) error {
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		return fmt.Errorf("coordinator address %q: want HOST:PORT, e.g. localhost:7070", addr)
	}
	return nil
}

// Dial makes a client connection to a coordinator at HOST:PORT. Nothing is
// sent until the first call.
func Dial(addr string) (*grpc.ClientConn, error) {
	if err := CheckAddress(addr); err != nil {
		return nil, err
	}
	return grpc.NewClient(addr, rpc.ClientOptions(nil)...)
}
