package rpc

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc/intake"
)

// Limits on what one connection may send and hold; the library's defaults
// accept 15 MiB of headers and any number of streams.
const (
	maxStreams    = 128
	maxHeaderList = 32 << 10
	// MaxMessage is the most bytes of a message to the server.
	MaxMessage = 4 << 20
	maxBundle  = 64 << 20
	// connectionAge is how long a connection lasts, about: then its client is asked
	// to make another one, and so to prove again who it is, with the certificate
	// and to the authorities that there are by then. Streams have streamGrace more.
	connectionAge = time.Hour
	streamGrace   = 10 * time.Minute
	// ioBuffer is the size of a connection's buffers, of which the library
	// keeps two of 32 KiB for as long as it lives: too much for a thousand.
	ioBuffer = 8 << 10
)

// Server is a gRPC server for one coordinator.
type Server struct {
	*grpc.Server
	health *health.Server
	c      *coordinator.Coordinator
	direct *direct // nil: options stand between clients and handlers
}

// NewServer returns a server with the coordinator's services, health and
// reflection, and with limits on everything a client may do. extra options
// come last, e.g. credentials; they hold for clients of a Memory too.
func NewServer(c *coordinator.Coordinator, log hclog.Logger, extra ...grpc.ServerOption) *Server {
	if log == nil {
		log = hclog.NewNullLogger()
	}
	gate := intake.NewGate()
	options := []grpc.ServerOption{
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.MaxHeaderListSize(maxHeaderList),
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(2 * MaxMessage),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.ForceServerCodecV2(gate),
		grpc.ReadBufferSize(ioBuffer),
		grpc.WriteBufferSize(ioBuffer),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: 5 * time.Minute, Time: 20 * time.Second, Timeout: 10 * time.Second,
			MaxConnectionAge: connectionAge, MaxConnectionAgeGrace: streamGrace,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.ChainUnaryInterceptor(recoverUnary(log)),
		grpc.ChainStreamInterceptor(recoverStream(log), limitStalls(log)),
	}
	recordDenials(extra, c)
	options = append(append(options, extra...), limitFrames(extra, log)...)
	s := &Server{Server: grpc.NewServer(options...), health: health.NewServer(), c: c}
	sweeps, workers := &sweepService{c: c, maxBundle: maxBundle}, &workerService{c: c, gate: gate}
	warptunev1.RegisterSweepServiceServer(s, sweeps)
	s.RegisterService(intake.NewAdmission().Describe(warptunev1.WorkerService_ServiceDesc), workers)
	if len(extra) == 0 {
		s.direct = newDirect(recoverUnary(log))
		warptunev1.RegisterSweepServiceServer(s.direct, sweeps)
		warptunev1.RegisterWorkerServiceServer(s.direct, workers)
	}
	healthv1.RegisterHealthServer(s, s.health)
	reflection.Register(s)
	return s
}

// ReportHealth keeps the health service at what the coordinator says until ctx
// ends.
func (s *Server) ReportHealth(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		state := healthv1.HealthCheckResponse_SERVING
		if s.c.Healthy() != nil {
			state = healthv1.HealthCheckResponse_NOT_SERVING
		}
		s.health.SetServingStatus("", state)
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.health.Shutdown()
			return
		}
	}
}

// recovered turns a panic of a handler into an error for its caller.
func recovered(log hclog.Logger, method string, err *error) {
	if p := recover(); p != nil {
		log.Error("handler panicked", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*err = ToStatus(tuner.Errorf(tuner.Internal, method, "a fault of the coordinator; its log says more"))
	}
}

func recoverUnary(log hclog.Logger) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (_ any, err error) {
		defer recovered(log, info.FullMethod, &err)
		return handler(ctx, req)
	}
}

func recoverStream(log hclog.Logger) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
		defer recovered(log, info.FullMethod, &err)
		return handler(srv, stream)
	}
}

// ClientOptions returns what every client of a coordinator dials with. creds
// nil means plaintext.
func ClientOptions(creds credentials.TransportCredentials) []grpc.DialOption {
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	return []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2*MaxMessage), grpc.ForceCodecV2(intake.NewCodec())),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second}, MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 20 * time.Second, Timeout: 10 * time.Second, PermitWithoutStream: true}),
	}
}
