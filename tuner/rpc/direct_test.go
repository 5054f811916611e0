package rpc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// inMemory serves a coordinator over a Memory.
func inMemory(t *testing.T, extra ...grpc.ServerOption) (*Server, *MemoryConn) {
	t.Helper()
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = c.Run(ctx); close(ended) }()
	server, memory := NewServer(c, nil, extra...), NewMemory()
	served := make(chan struct{})
	go func() { _ = server.Serve(memory.Listener()); close(served) }()
	conn, err := memory.Dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		server.Stop()
		stop()
		<-ended
		<-served
	})
	return server, conn
}

// A call gives the same answer straight as through gRPC, whatever the method.
func TestStraightIsAsThroughThePipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, conn := inMemory(t)
		content, digest := tunertest.Bundle{Size: 10}.Content()
		if err := server.c.PutBundle(t.Context(), digest, content); err != nil {
			t.Fatal(err)
		}
		spec := tunertest.Bundle{Size: 10}.Spec("k")
		out, err := server.c.Submit(t.Context(), spec, "")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		calls := 0
		for _, name := range []protoreflect.FullName{"warptune.v1.SweepService", "warptune.v1.WorkerService"} {
			d, err := protoregistry.GlobalFiles.FindDescriptorByName(name)
			if err != nil {
				t.Fatal(err)
			}
			methods := d.(protoreflect.ServiceDescriptor).Methods()
			for i := range methods.Len() {
				if m := methods.Get(i); !m.IsStreamingClient() && !m.IsStreamingServer() {
					if _, err := server.c.Submit(t.Context(), spec, ""); err != nil { // whatever the methods before did
						t.Fatal(err)
					}
					compare(t, server, conn, m, out.Sweep.ID)
					calls++
				}
			}
		}
		if calls != len(server.direct.methods) || calls == 0 {
			t.Errorf("%d methods compared of %d", calls, len(server.direct.methods))
		}
	})
}

// compare calls a method both ways, with a request that means something and
// with an empty one.
func compare(t *testing.T, server *Server, conn *MemoryConn, m protoreflect.MethodDescriptor, sweep string) {
	t.Helper()
	name := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	request, reply := messageOf(t, m.Input()), messageOf(t, m.Output())
	full := request.New()
	if f := m.Input().Fields().ByName("id"); f != nil {
		full.Set(f, protoreflect.ValueOfString(sweep))
	}
	if f := m.Input().Fields().ByName("worker"); f != nil {
		full.Set(f, protoreflect.ValueOfMessage((&warptunev1.WorkerIdentity{
			Id: "w", Epoch: 1, Slots: 1, Engine: tunertest.Engine, Archs: map[string]string{tunertest.Arch: tunertest.ArchDigest},
		}).ProtoReflect()))
	}
	for _, in := range []proto.Message{full.Interface(), request.New().Interface()} {
		before := proto.Clone(in)
		piped, direct := reply.New().Interface(), reply.New().Interface()
		pipeErr := conn.ClientConn.Invoke(t.Context(), name, in, piped)
		served, directErr := server.direct.call(t.Context(), name, in, direct)
		synctest.Wait()
		switch {
		case !served:
			t.Errorf("%s is not served", name)
		case status.Code(pipeErr) != status.Code(directErr) || pipeErr != nil && status.Convert(pipeErr).Message() != status.Convert(directErr).Message():
			t.Errorf("%s: %v through the pipe, %v straight", name, pipeErr, directErr)
		case !proto.Equal(piped, direct):
			t.Errorf("%s: through the pipe\n%v\nstraight\n%v", name, piped, direct)
		case !proto.Equal(in, before):
			t.Errorf("%s changes its request", name)
		}
	}
}

func messageOf(t *testing.T, d protoreflect.MessageDescriptor) protoreflect.Message {
	t.Helper()
	m, err := protoregistry.GlobalTypes.FindMessageByName(d.FullName())
	if err != nil {
		t.Fatal(err)
	}
	return m.New()
}

// What ends a call through gRPC ends one that goes straight: its deadline, its
// connection's end and its server's; and none begins after.
func TestStraightCallsEnd(t *testing.T) {
	held := &warptunev1.SynchronizeRequest{Worker: &warptunev1.WorkerIdentity{Id: "w", Slots: 1}, WaitMs: 9000, Want: 1}
	for what, c := range map[string]struct {
		end  func(*Server, *MemoryConn)
		code codes.Code
		then codes.Code
	}{
		"deadline":   {func(*Server, *MemoryConn) {}, codes.DeadlineExceeded, codes.DeadlineExceeded},
		"connection": {func(_ *Server, c *MemoryConn) { _ = c.Close() }, codes.Canceled, codes.Canceled},
		"server":     {func(s *Server, _ *MemoryConn) { s.Stop() }, codes.Unavailable, codes.Unavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, conn := inMemory(t)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			ended := make(chan error, 1)
			go func() {
				_, err := warptunev1.NewWorkerServiceClient(conn).Synchronize(ctx, held)
				ended <- err
			}()
			time.Sleep(time.Second)
			c.end(server, conn)
			if err := <-ended; status.Code(err) != c.code {
				t.Errorf("%s: the call ends with %v", what, err)
			}
			if _, err := warptunev1.NewWorkerServiceClient(conn).Synchronize(ctx, held); status.Code(err) != c.then {
				t.Errorf("%s: the next call ends with %v", what, err)
			}
		})
	}
}

// Options of the server stand between in-memory clients and handlers too.
func TestOptionsHoldInMemory(t *testing.T) {
	seen := 0
	_, conn := inMemory(t, grpc.ChainUnaryInterceptor(func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
		seen++
		return nil, status.Error(codes.PermissionDenied, "no")
	}))
	_, err := warptunev1.NewSweepServiceClient(conn).List(t.Context(), &warptunev1.ListRequest{})
	if status.Code(err) != codes.PermissionDenied || seen != 1 {
		t.Errorf("the interceptor saw %d calls: %v", seen, err)
	}
}
