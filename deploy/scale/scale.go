// Package scale tells KEDA how many workers a coordinator could use, by KEDA's
// external-scaler interface. It counts trials; what a worker costs and how many
// there may be is the cluster's to say.
package scale

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/warptune/warptune/deploy/scale/externalscaler"
	"github.com/warptune/warptune/tuner"
)

// metric is the name of the only metric: trials that are waiting or under way.
const metric = "warptune-trials"

// defaultTrialsPerWorker is how many trials one worker is worth starting for,
// when the trigger's metadata has no trialsPerWorker.
const defaultTrialsPerWorker = 10

// watchInterval is how often StreamIsActive looks.
const watchInterval = 2 * time.Second

// Sweeps is the part of a coordinator that scaling needs.
type Sweeps interface {
	// Sweeps returns all sweeps with their counts.
	Sweeps(ctx context.Context) []tuner.Sweep
}

// Register adds the service to a server.
func Register(r grpc.ServiceRegistrar, s Sweeps) {
	externalscaler.RegisterExternalScalerServer(r, &server{sweeps: s})
}

type server struct {
	externalscaler.UnimplementedExternalScalerServer
	sweeps Sweeps
}

// trials returns how many trials workers could hold now. What a strategy has
// not asked for yet does not count: more workers would not get it.
func (s *server) trials(ctx context.Context) int64 {
	var n int64
	for _, sweep := range s.sweeps.Sweeps(ctx) {
		if sweep.State == tuner.Running {
			n += sweep.Counts.Queued + sweep.Counts.Leased
		}
	}
	return n
}

// IsActive is in ExternalScaler.
func (s *server) IsActive(ctx context.Context, _ *externalscaler.ScaledObjectRef) (*externalscaler.IsActiveResponse, error) {
	return &externalscaler.IsActiveResponse{Result: s.trials(ctx) > 0}, nil
}

// StreamIsActive is in ExternalScaler.
func (s *server) StreamIsActive(_ *externalscaler.ScaledObjectRef, stream grpc.ServerStreamingServer[externalscaler.IsActiveResponse]) error {
	ctx := stream.Context()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for first, last := true, false; ; first = false {
		if now := s.trials(ctx) > 0; first || now != last {
			if err := stream.Send(&externalscaler.IsActiveResponse{Result: now}); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// GetMetricSpec is in ExternalScaler.
func (s *server) GetMetricSpec(_ context.Context, ref *externalscaler.ScaledObjectRef) (*externalscaler.GetMetricSpecResponse, error) {
	target := int64(defaultTrialsPerWorker)
	if text, given := ref.GetScalerMetadata()["trialsPerWorker"]; given {
		var err error
		if target, err = strconv.ParseInt(text, 10, 64); err != nil || target < 1 {
			return nil, status.Errorf(codes.InvalidArgument, "trialsPerWorker %q of %s/%s: want a positive number", text, ref.GetNamespace(), ref.GetName())
		}
	}
	return &externalscaler.GetMetricSpecResponse{MetricSpecs: []*externalscaler.MetricSpec{
		{MetricName: metric, TargetSize: target, TargetSizeFloat: float64(target)},
	}}, nil
}

// GetMetrics is in ExternalScaler.
func (s *server) GetMetrics(ctx context.Context, in *externalscaler.GetMetricsRequest) (*externalscaler.GetMetricsResponse, error) {
	if in.GetMetricName() != metric {
		return nil, status.Errorf(codes.NotFound, "there is no metric %q: the only one is %s", in.GetMetricName(), metric)
	}
	n := s.trials(ctx)
	return &externalscaler.GetMetricsResponse{MetricValues: []*externalscaler.MetricValue{
		{MetricName: metric, MetricValue: n, MetricValueFloat: float64(n)},
	}}, nil
}
