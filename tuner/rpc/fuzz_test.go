package rpc

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// rawCodec sends bytes as they are.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }

func (rawCodec) Unmarshal(b []byte, v any) error {
	*v.(*[]byte) = slices.Clone(b)
	return nil
}

func (rawCodec) Name() string { return "proto" }

// documented are the codes that a request may be answered with, whatever is in
// it.
var documented = []codes.Code{
	codes.OK, codes.InvalidArgument, codes.NotFound, codes.FailedPrecondition, codes.ResourceExhausted, codes.Canceled,
	codes.DeadlineExceeded, codes.Aborted,
}

// FuzzRequests sends arbitrary bytes to every method: no handler panics (the
// answer would be Internal), and the ledger still adds up.
func FuzzRequests(f *testing.F) {
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}, MaxLive: 20})
	if err != nil {
		f.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = c.Run(ctx) }()
	server, memory := NewServer(c, nil), NewMemory()
	go func() { _ = server.Serve(memory.Listener()) }()
	defer server.Stop()
	conn, err := memory.Dial()
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	b := tunertest.Bundle{Size: 50}
	content, digest := b.Content()
	if err := c.PutBundle(ctx, digest, content); err != nil {
		f.Fatal(err)
	}
	spec := b.Spec("test")
	sweep, err := c.Submit(ctx, spec, "")
	if err != nil {
		f.Fatal(err)
	}
	methods := fuzzMethods()
	add := func(method string, m proto.Message) {
		raw, _ := proto.Marshal(m)
		f.Add(uint8(slices.Index(methods, method)), raw)
	}
	add(warptunev1.SweepService_Submit_FullMethodName, &warptunev1.SubmitRequest{Spec: FromSpec(&spec), Key: "k"})
	add(warptunev1.SweepService_Pause_FullMethodName, &warptunev1.PauseRequest{Id: sweep.Sweep.ID})
	add(warptunev1.SweepService_Results_FullMethodName, &warptunev1.ResultsRequest{Id: sweep.Sweep.ID, FromSeq: -5, Limit: 3})
	add(warptunev1.SweepService_Best_FullMethodName, &warptunev1.BestRequest{Kernel: "test", Arch: "h200", Problem: []int64{-1, 0}})
	o := tunertest.Oracle(0)
	for _, seq := range []int64{0, -1, 1 << 62} {
		add(warptunev1.WorkerService_Synchronize_FullMethodName, &warptunev1.SynchronizeRequest{
			Worker: &warptunev1.WorkerIdentity{Id: "w", Slots: 1 << 40, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest}},
			Held:   []*warptunev1.Lease{{Sweep: 1, Seq: seq, Token: 1}}, Want: 1 << 60,
			Reports: []*warptunev1.Report{{Lease: &warptunev1.Lease{Sweep: 1, Seq: seq, Token: 1}, Result: &warptunev1.Report_Outcome{Outcome: FromOutcome(&o)}}, {}},
		})
	}
	f.Fuzz(func(t *testing.T, method uint8, raw []byte) {
		name := methods[int(method)%len(methods)]
		err := invokeRaw(conn.ClientConn, name, raw)
		if code := status.Code(err); !slices.Contains(documented, code) && !isMalformed(err) {
			t.Errorf("%s answers %v to %x", name, err, raw)
		}
		if s, err := c.Sweep(ctx, sweep.Sweep.ID); err == nil && s.State != tuner.Deleting {
			if n := s.Counts; n.Asked != n.Queued+n.Leased+n.Done+n.Abandoned {
				t.Errorf("counts do not add up: %+v", n)
			}
		}
	})
}

// A message without fields, which is what an empty text decodes to, is answered
// by every method as any other.
func TestEmptyMessages(t *testing.T) {
	address, _ := serve(t)
	conn := dial(t, address, ClientOptions(nil)...)
	for _, method := range fuzzMethods() {
		if err := invokeRaw(conn, method, nil); !slices.Contains(documented, status.Code(err)) {
			t.Errorf("%s answers %v", method, err)
		}
	}
}

// fuzzMethods returns the methods of our services, in order.
func fuzzMethods() []string {
	var all []string
	for _, d := range []grpc.ServiceDesc{warptunev1.SweepService_ServiceDesc, warptunev1.WorkerService_ServiceDesc} {
		for _, m := range d.Methods {
			all = append(all, "/"+d.ServiceName+"/"+m.MethodName)
		}
		for _, m := range d.Streams {
			all = append(all, "/"+d.ServiceName+"/"+m.StreamName)
		}
	}
	slices.Sort(all)
	return all
}

// isMalformed reports whether the library refused bytes that are no message.
func isMalformed(err error) bool {
	return status.Code(err) == codes.Internal && len(status.Convert(err).Details()) == 0
}

func invokeRaw(conn *grpc.ClientConn, method string, raw []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method, grpc.ForceCodec(rawCodec{}))
	if err != nil {
		return err
	}
	if err := s.SendMsg(&raw); err != nil && !errors.Is(err, io.EOF) { // EOF: RecvMsg says why
		return err
	}
	_ = s.CloseSend()
	for {
		var answer []byte
		if err := s.RecvMsg(&answer); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
