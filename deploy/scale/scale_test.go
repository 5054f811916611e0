package scale

import (
	"context"
	"net"
	"os"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/warptune/warptune/deploy/scale/externalscaler"
	"github.com/warptune/warptune/tuner"
)

type fixed []tuner.Sweep

func (f fixed) Sweeps(context.Context) []tuner.Sweep { return f }

func serve(t *testing.T, s Sweeps) externalscaler.ExternalScalerClient {
	t.Helper()
	listener, server := bufconn.Listen(1<<16), grpc.NewServer()
	Register(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///memory", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return externalscaler.NewExternalScalerClient(conn)
}

func TestOnlyRunningSweepsCount(t *testing.T) {
	ctx := t.Context()
	counts := tuner.Counts{Total: 1000, Queued: 30, Leased: 12, Done: 500}
	for state, want := range map[tuner.SweepState]int64{
		tuner.Running: 84, tuner.Paused: 0, tuner.Completed: 0, tuner.Cancelled: 0, tuner.Failed: 0,
	} {
		c := serve(t, fixed{{State: state, Counts: counts}, {State: state, Counts: counts}})
		active, err := c.IsActive(ctx, &externalscaler.ScaledObjectRef{})
		if err != nil || active.GetResult() != (want > 0) {
			t.Errorf("%v: active is %v (%v)", state, active, err)
		}
		stream, err := c.StreamIsActive(ctx, &externalscaler.ScaledObjectRef{})
		if err != nil {
			t.Fatal(err)
		}
		if first, err := stream.Recv(); err != nil || first.GetResult() != (want > 0) {
			t.Errorf("%v: the stream says %v (%v)", state, first, err)
		}
		m, err := c.GetMetrics(ctx, &externalscaler.GetMetricsRequest{MetricName: metric})
		if err != nil || len(m.GetMetricValues()) != 1 || m.GetMetricValues()[0].GetMetricValueFloat() != float64(want) || m.GetMetricValues()[0].GetMetricValue() != want {
			t.Errorf("%v: metrics are %v (%v), want %d", state, m, err, want)
		}
	}
}

func TestTargetComesFromTheTrigger(t *testing.T) {
	c := serve(t, fixed(nil))
	for text, want := range map[string]float64{"25": 25, "1": 1, "0": 0, "-3": 0, "many": 0, "": 0} {
		spec, err := c.GetMetricSpec(t.Context(), &externalscaler.ScaledObjectRef{ScalerMetadata: map[string]string{"trialsPerWorker": text}})
		if want == 0 {
			if status.Code(err) != codes.InvalidArgument {
				t.Errorf("%q: %v, %v", text, spec, err)
			}
		} else if err != nil || spec.GetMetricSpecs()[0].GetTargetSizeFloat() != want {
			t.Errorf("%q: %v, %v", text, spec, err)
		}
	}
	spec, err := c.GetMetricSpec(t.Context(), &externalscaler.ScaledObjectRef{})
	if err != nil || spec.GetMetricSpecs()[0].GetTargetSize() != defaultTrialsPerWorker {
		t.Errorf("by default: %v, %v", spec, err)
	}
	if _, err := c.GetMetrics(t.Context(), &externalscaler.GetMetricsRequest{MetricName: "other"}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown metric: %v", err)
	}
}

// The generated code is that of the definition beside it.
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	const name = "externalscaler/externalscaler.proto"
	if _, err := os.Stat(name); err != nil {
		t.Fatal(err)
	}
	files, err := (&protocompile.Compiler{Resolver: &protocompile.SourceResolver{}}).Compile(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	want := protodesc.ToFileDescriptorProto(files[0])
	got := protodesc.ToFileDescriptorProto(externalscaler.File_externalscaler_externalscaler_proto)
	for _, d := range []*descriptorpb.FileDescriptorProto{want, got} {
		d.SourceCodeInfo = nil
	}
	if !proto.Equal(want, got) {
		t.Errorf("generated from another definition:\n%v\nwant\n%v", got, want)
	}
}
