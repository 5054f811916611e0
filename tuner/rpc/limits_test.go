package rpc

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Kinds and flags of frames, and codes of errors (RFC 9113, 6 and 7).
const (
	frameData, frameHeaders, frameReset, frameSettings, framePing, frameGoAway = 0, 1, 3, 4, 6, 7

	flagEndStream, flagEndHeaders = 1, 4

	errRefusedStream, errEnhanceYourCalm = 7, 11

	preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
)

// appendFrame appends a frame.
func appendFrame(b []byte, kind, flags byte, stream uint32, payload []byte) []byte {
	b = append(b, byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload)), kind, flags)
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// callBlock is the header of a call, in literal headers that are not indexed.
func callBlock(method string) (block []byte) {
	for _, h := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"}, {"content-type", "application/grpc"}, {"te", "trailers"}} {
		for i, text := range h {
			if i == 0 {
				block = append(block, 0)
			}
			block = append(append(block, byte(len(text))), text...)
		}
	}
	return block
}

// readFrame reads a frame, of what is in it up to 64 bytes.
func readFrame(conn io.Reader) (kind, flags byte, payload []byte, err error) {
	var head [9]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, 0, nil, err
	}
	n := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	payload = make([]byte, min(n, 64))
	if _, err := io.ReadFull(conn, payload); err != nil {
		return 0, 0, nil, err
	}
	_, err = io.CopyN(io.Discard, conn, int64(n-len(payload)))
	return head[3], head[4], payload, err
}

// Of the streams of one connection no more are open than may be.
func TestStreamsAreLimited(t *testing.T) {
	address, _ := serve(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const more = 70
	b := appendFrame([]byte(preface), frameSettings, 0, 0, nil)
	half := append([]byte{0, 0, 0x30, 0, 0}, make([]byte, 30)...) // of a message that does not end
	block := callBlock(warptunev1.SweepService_Submit_FullMethodName)
	for i := range maxStreams + more {
		b = appendFrame(appendFrame(b, frameHeaders, flagEndHeaders, uint32(2*i+1), block), frameData, 0, uint32(2*i+1), half)
	}
	b = appendFrame(b, framePing, 0, 0, []byte("all came")) // what is answered before its answer is to streams before it
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	refused := 0
	for ponged := false; !ponged || refused < more; {
		kind, flags, payload, err := readFrame(conn)
		if err != nil {
			t.Fatalf("%d of %d streams too many are refused: %v", refused, more, err)
		}
		ponged = ponged || kind == framePing && flags == 1
		if kind == frameReset && binary.BigEndian.Uint32(payload) == errRefusedStream {
			refused++
		}
	}
	if refused != more {
		t.Errorf("%d streams are refused, want %d", refused, more)
	}
}

// Headers are not as long as one likes.
func TestHeadersAreLimited(t *testing.T) {
	address, _ := serve(t)
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	for length, want := range map[int]codes.Code{maxHeaderList / 2: codes.OK, 2 * maxHeaderList: codes.Internal} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "x", strings.Repeat("x", length))
		if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil { // it knows the bound then
			t.Fatal(err)
		}
		_, err := client.List(ctx, &warptunev1.ListRequest{})
		if status.Code(err) != want {
			t.Errorf("%d bytes of headers: %v, want %v", length, err, want)
		}
	}
}

// Who asks for life signs without end is sent away; who does as clients of ours do stays.
func TestPingsAreLimited(t *testing.T) {
	address, _ := serve(t)
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	b := appendFrame([]byte(preface), frameSettings, 0, 0, nil)
	for range 10 {
		b = appendFrame(b, framePing, 0, 0, make([]byte, 8))
	}
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	for code := uint32(0); code != errEnhanceYourCalm; {
		kind, _, payload, err := readFrame(conn)
		if err != nil {
			t.Fatalf("a flood of pings: %v", err)
		}
		if kind == frameGoAway {
			code = binary.BigEndian.Uint32(payload[4:])
		}
	}

	synctest.Test(t, func(t *testing.T) {
		c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		memory := NewMemory()
		server := NewServer(c, nil)
		served := make(chan error, 1)
		go func() { served <- server.Serve(memory.Listener()) }()
		var connections atomic.Int64
		options := append(ClientOptions(nil), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			connections.Add(1)
			return memory.listener.DialContext(ctx)
		}))
		client := warptunev1.NewSweepServiceClient(dial(t, "passthrough:///127.0.0.1", options...))
		for range 4 {
			if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
				t.Error(err)
			}
			time.Sleep(4 * time.Minute) // less than an idle connection may last
		}
		if n := connections.Load(); n != 1 {
			t.Errorf("a client that is mostly silent needed %d connections", n)
		}
		server.Stop()
		<-served
	})
}

// faulty is a store over which handlers panic.
type faulty struct{ store.Store }

func (faulty) Bests(string, string) ([]tuner.Best, int64, error)           { panic("a fault") }
func (faulty) Best(string, string, []int64) (tuner.Best, error)            { panic("a fault") }
func (faulty) Results(uint64, int64, int) ([]tuner.Result, error)          { panic("a fault") }
func (faulty) Salvage(uint64, int64, int) ([]tuner.Result, []int64, error) { panic("a fault") }

// A handler that panics is a fault of the coordinator's in one call: others go on.
func TestPanicsEndOneCall(t *testing.T) {
	st := store.NewMemory()
	c, err := coordinator.New(faulty{st}, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	server := NewServer(c, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer func() {
		server.Stop()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	b := tunertest.Bundle{Size: 20}
	stored(t, c, b)
	out, err := c.Submit(t.Context(), b.Spec("test"), "")
	if err != nil {
		t.Fatal(err)
	}
	client := warptunev1.NewSweepServiceClient(dial(t, l.Addr().String(), ClientOptions(nil)...))
	for range 2 {
		if _, err := client.Best(t.Context(), &warptunev1.BestRequest{Kernel: "test", Arch: tunertest.Arch}); status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "a fault of the coordinator") {
			t.Errorf("a call: %v", err)
		}
		stream, err := client.Results(t.Context(), &warptunev1.ResultsRequest{Id: out.Sweep.ID})
		if err == nil {
			_, err = stream.Recv()
		}
		if status.Code(err) != codes.Internal || !strings.Contains(err.Error(), "a fault of the coordinator") {
			t.Errorf("a stream: %v", err)
		}
		if _, err := client.Get(t.Context(), &warptunev1.GetRequest{Id: out.Sweep.ID}); err != nil {
			t.Errorf("another call: %v", err)
		}
	}
}

// Health says what is so: not serving while the store takes no changes, serving when it
// does again.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		st := &store.Failing{Store: store.NewMemory(), Fail: func() error {
			if full.Load() {
				return tuner.Errorf(tuner.DiskFull, "store changes", "no space left on device")
			}
			return nil
		}}
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- c.Run(ctx) }()
		s := NewServer(c, nil)
		go s.ReportHealth(ctx)
		for _, isFull := range []bool{false, true, false} {
			full.Store(isFull)
			if err := c.Note(t.Context(), tuner.Act{What: tuner.ActBackUp}); isFull != (err != nil) {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			want := healthv1.HealthCheckResponse_SERVING
			if isFull {
				want = healthv1.HealthCheckResponse_NOT_SERVING
			}
			got, err := s.health.Check(t.Context(), &healthv1.HealthCheckRequest{})
			if err != nil || got.GetStatus() != want {
				t.Errorf("with a full disk %v it says %v (%v)", isFull, got.GetStatus(), err)
			}
			if full.Swap(false) {
				time.Sleep(3 * time.Second) // it comes back by itself
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got, err := s.health.Check(context.Background(), &healthv1.HealthCheckRequest{}); err != nil || got.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
			t.Errorf("at the end it says %v (%v)", got.GetStatus(), err)
		}
	})
}

// Who begins calls and takes them back at once, by the thousand, holds up nobody else, and
// leaves nothing behind (CVE-2023-44487).
func TestRapidReset(t *testing.T) {
	const calls = 20_000
	address, _ := serve(t)
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		block := callBlock(warptunev1.SweepService_Watch_FullMethodName)
		b := appendFrame([]byte(preface), frameSettings, 0, 0, nil)
		for i := range calls {
			stream := uint32(2*i + 1)
			b = appendFrame(appendFrame(b, frameHeaders, flagEndHeaders, stream, block), frameReset, 0, stream, []byte{0, 0, 0, 8})
			if len(b) > 32<<10 || i == calls-1 {
				if _, err := conn.Write(b); err != nil {
					return // it is sent away: as well
				}
				b = b[:0]
			}
		}
	}()
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	var longest time.Duration
	for flooding, n := true, 0; flooding || n < 20; n++ {
		asked := time.Now()
		if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
			t.Fatal(err)
		}
		longest = max(longest, time.Since(asked))
		select {
		case <-sent:
			flooding = false
		default:
		}
	}
	t.Logf("%d calls taken back: others wait %v at most", calls, longest)
	_ = conn.Close()
	for until := time.Now().Add(patience); runtime.NumGoroutine() > before+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d goroutines are left, before there were %d", runtime.NumGoroutine(), before)
		}
	}
}
