package rpc

import (
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
)

// stallLimit is how long a client of a stream may let the other side wait: to
// take a message, or to send one. It bounds what clients that stop reading an
// export, or sending a bundle, hold on to.
const stallLimit = time.Minute

// limitStalls ends streams whose client stalls.
func limitStalls(log hclog.Logger) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		err := handler(srv, &stalling{stream})
		if tuner.KindOf(err) == tuner.Limit {
			log.Warn("stream ended", "method", info.FullMethod, "peer", hostOf(stream.Context()), "error", err)
		}
		return ToStatus(err)
	}
}

// stalling is a stream that gives up waiting.
type stalling struct{ grpc.ServerStream }

// SendMsg is in grpc.ServerStream.
func (s *stalling) SendMsg(m any) error {
	return within(stallLimit, func() error { return s.ServerStream.SendMsg(m) }, "takes")
}

// RecvMsg is in grpc.ServerStream.
func (s *stalling) RecvMsg(m any) error {
	return within(stallLimit, func() error { return s.ServerStream.RecvMsg(m) }, "sends")
}

// within returns what f does, or after limit an error. f then ends with the
// stream, as the handler's return ends that.
func within(limit time.Duration, f func() error, does string) error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return tuner.Errorf(tuner.Limit, "stream", "the client %s nothing for %v: ended; ask again from where it stopped", does, limit)
	}
}
