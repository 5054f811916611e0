package rpc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/tunertest"
)

// However a stream of bytes is cut, the frames in it are those that were written.
func TestFramesAreFound(t *testing.T) {
	random := tunertest.Rand(t)
	for range 200 {
		var b bytes.Buffer
		f := http2.NewFramer(&b, nil)
		var want []http2.FrameHeader
		for range random.IntN(20) {
			kind, length := http2.FrameType(random.IntN(12)), random.IntN(300)
			if random.IntN(10) == 0 {
				length = random.IntN(70_000)
			}
			if err := f.WriteRawFrame(kind, 0, 1, make([]byte, length)); err != nil {
				t.Fatal(err)
			}
			want = append(want, http2.FrameHeader{Type: kind, Length: uint32(length)})
		}
		var s frameScanner
		var got []http2.FrameHeader
		for rest := b.Bytes(); len(rest) > 0; {
			n := min(len(rest), 1+random.IntN(20))
			if random.IntN(2) == 0 {
				n = 1 + random.IntN(len(rest))
			}
			s.scan(rest[:n], func(kind http2.FrameType, length int) {
				got = append(got, http2.FrameHeader{Type: kind, Length: uint32(length)})
			})
			rest = rest[n:]
		}
		if !slices.Equal(got, want) || !s.between() {
			t.Fatalf("found %v, want %v", got, want)
		}
	}
}

// Who sends frames that bring nothing is sent away with the reason, and others are not.
func TestFloodsAreCut(t *testing.T) {
	address, _ := serve(t)
	client := warptunev1.NewSweepServiceClient(dial(t, address, ClientOptions(nil)...))
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, preface); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(conn, conn)
	go func() {
		for f.WriteSettings() == nil { // until it is closed
			time.Sleep(10 * time.Microsecond)
		}
	}()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	acks := 0
	for acks < 20*frameBurst {
		frame, err := f.ReadFrame()
		if err != nil {
			break // the goodbye is lost where more has come than is read
		}
		if s, ok := frame.(*http2.SettingsFrame); ok && s.IsAck() {
			acks++
		}
		if away, ok := frame.(*http2.GoAwayFrame); ok {
			if away.ErrCode != http2.ErrCodeEnhanceYourCalm || string(away.DebugData()) != errFrames.Error() {
				t.Errorf("sent away with %v, %q", away.ErrCode, away.DebugData())
			}
			break
		}
	}
	if acks < frameBurst/2 || acks >= 20*frameBurst {
		t.Errorf("it is cut after %d frames, want about %d", acks, frameBurst)
	}
	if _, err := client.List(t.Context(), &warptunev1.ListRequest{}); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// Whoever only makes calls is never cut, however many, over however few connections:
// calls that succeed and that fail, long messages either way, streams of messages.
func TestCallsAreNoFloods(t *testing.T) {
	address, _ := serve(t)
	var connections atomic.Int64
	const window = 64 << 10 // as small as may be: it is opened anew for each quarter of it
	options := append(ClientOptions(nil), grpc.WithStaticStreamWindowSize(window), grpc.WithStaticConnWindowSize(window), grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		connections.Add(1)
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}))
	conn := dial(t, address, options...)
	client := warptunev1.NewSweepServiceClient(conn)
	var all sync.WaitGroup
	many := func(callers, calls int, call func() error, want codes.Code) {
		for range callers {
			all.Go(func() {
				for range calls {
					if err := call(); status.Code(err) != want {
						t.Errorf("a call: %v, want %v", err, want)
						return
					}
				}
			})
		}
	}
	many(64, 100, func() error {
		_, err := client.List(t.Context(), &warptunev1.ListRequest{})
		return err
	}, codes.OK)
	many(32, 100, func() error {
		_, err := client.Get(t.Context(), &warptunev1.GetRequest{Id: "none"})
		return err
	}, codes.NotFound)
	all.Wait()
	for i := range uint32(4) {
		content := binary.BigEndian.AppendUint32(bytes.Repeat([]byte("a bundle"), 4<<20), i) // 32 MiB
		digest := fmt.Sprintf("%x", sha256.Sum256(content))
		put, err := client.PutBundle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := &warptunev1.PutBundleRequest{Digest: digest}
		for chunk := range slices.Chunk(content, 64<<10) {
			m.Chunk = chunk
			if err := put.Send(m); err != nil {
				break
			}
			m.Digest = ""
		}
		if _, err := put.CloseAndRecv(); err != nil {
			t.Fatalf("bundle %d goes there: %v", i, err)
		}
		got, err := warptunev1.NewWorkerServiceClient(conn).GetBundle(t.Context(), &warptunev1.GetBundleRequest{Digest: digest})
		bytes := 0
		for err == nil {
			var m *warptunev1.GetBundleResponse
			if m, err = got.Recv(); err == nil {
				bytes += len(m.GetChunk())
			}
		}
		if err != io.EOF || bytes != len(content) {
			t.Fatalf("bundle %d comes back: %d of %d bytes: %v", i, bytes, len(content), err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("they needed %d connections", n)
	}
}

// Connections of a host over which nothing was answered share what they may send. Those over which something was give
// back what they took, and wait no more.
func TestStrangersShare(t *testing.T) {
	now := time.Unix(0, 0)
	h := &hosts{strangers: map[string]*strangers{}}
	join := func(host string) (*frameMeter, time.Duration) {
		s := h.at(host, now)
		wait := s.spend(framesOfConn, now)
		return &frameMeter{strangers: s, left: bucket{left: frameBurst, at: now}, spent: framesOfConn}, wait
	}
	for i := range 5 * strangerBurst / framesOfConn { // honest ones are many more than fit
		m, wait := join("10.0.0.1")
		more, ok := m.spend(6, now)
		if wait > 0 || more > 0 || !ok {
			t.Fatalf("honest connection %d waits %v and %v (%v)", i+1, wait, more, ok)
		}
		m.earn(framesOfCall, true, now)
	}
	known, _ := join("10.0.0.1")
	known.earn(framesOfCall, true, now)
	var longest time.Duration
	waiting := 0
	for range 5 * strangerBurst / (framesOfConn + 500) {
		m, wait := join("10.0.0.1")
		more, _ := m.spend(500, now)
		if wait+more > 0 {
			waiting++
		}
		longest = max(longest, wait, more)
	}
	if waiting < 3*strangerBurst/(framesOfConn+500) || longest != strangerWait {
		t.Errorf("of those that flood %d wait, %v at most", waiting, longest)
	}
	if m, _ := join("10.0.0.1"); len(m.portion(make([]byte, 8<<10), now)) != strangerPortion {
		t.Error("while they flood, others that are not known are read from in large portions")
	}
	if wait, ok := known.spend(100, now); wait > 0 || !ok || len(known.portion(make([]byte, 8<<10), now)) != 8<<10 {
		t.Errorf("who is known waits %v (%v)", wait, ok)
	}
	if _, wait := join("10.0.0.2"); wait > 0 {
		t.Errorf("another host waits %v", wait)
	}
	now = now.Add(strangerWait + strangerBurst/strangerRate*time.Second)
	if _, wait := join("10.0.0.1"); wait > 0 {
		t.Errorf("afterwards it waits %v", wait)
	}
}
