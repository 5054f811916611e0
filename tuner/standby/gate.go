package standby

import (
	"context"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner/rpc"
)

// Gate returns server options that refuse every call, reading included, once the
// lease may have run out: somebody else may serve by then.
func Gate(k *Keeper) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := k.Valid(); err != nil {
				return nil, rpc.ToStatus(err)
			}
			reply, err := handler(ctx, req)
			if late := k.Valid(); late != nil { // it stood still meanwhile
				return nil, rpc.ToStatus(late)
			}
			return reply, err
		}),
		grpc.ChainStreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := k.Valid(); err != nil {
				return rpc.ToStatus(err)
			}
			return handler(srv, gated{stream, k})
		}),
	}
}

// gated is a stream of which nothing is sent after the lease.
type gated struct {
	grpc.ServerStream
	k *Keeper
}

// SendMsg is in grpc.ServerStream.
func (g gated) SendMsg(m any) error {
	if err := g.k.Valid(); err != nil {
		return rpc.ToStatus(err)
	}
	return g.ServerStream.SendMsg(m)
}
