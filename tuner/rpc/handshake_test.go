package rpc

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// Those who connect and say nothing, or spell their TLS hello a byte a second, are
// let go after 10 s and hold up nobody: calls of others are answered meanwhile, and
// there is room for more connections afterwards.
func TestSlowHandshakes(t *testing.T) {
	const silent, dripping = 1500, 100
	for _, encrypted := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a := newAuthority(t)
			c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
			if err != nil {
				t.Fatal(err)
			}
			memory := NewMemory()
			l, options := ConnectionLimits{Total: silent + dripping + 10, PerHost: silent + dripping + 10}.Limit(memory.Listener(), nil)
			client := ClientOptions(nil)
			if encrypted {
				server, err := a.issue("coordinator", "", nil).Server()
				if err != nil {
					t.Fatal(err)
				}
				creds, err := a.issue("rita", "reader", nil).Client()
				if err != nil {
					t.Fatal(err)
				}
				options = append(append(options, Credentials(server)), Authorize(nil, nil)...)
				client = ClientOptions(creds)
			}
			server := NewServer(c, nil, options...)
			served := make(chan error, 1)
			go func() { served <- server.Serve(l) }()
			var one sync.Mutex // timers of a bubble that two processors start at once crash the race detector (golang/go issue 78156)
			connect := func() (net.Conn, error) {
				one.Lock()
				defer one.Unlock()
				return memory.listener.DialContext(t.Context())
			}

			began := time.Now()
			var all sync.WaitGroup
			var mu sync.Mutex
			longest := time.Duration(0)
			hold := func(say func(net.Conn)) {
				conn, err := connect()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				if say != nil {
					all.Go(func() { say(conn) })
				}
				_, _ = io.Copy(io.Discard, conn) // until it is closed
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, time.Since(began))
			}
			for range silent {
				all.Go(func() { hold(nil) })
			}
			for range dripping {
				all.Go(func() {
					hold(func(conn net.Conn) {
						hello := append([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3}, make([]byte, 505)...) // of a record of 512 bytes
						if !encrypted {
							hello = []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
						}
						for _, b := range hello {
							if _, err := conn.Write([]byte{b}); err != nil {
								return
							}
							time.Sleep(time.Second)
						}
					})
				})
			}
			time.Sleep(time.Second) // they are all there
			honest, err := grpc.NewClient("passthrough:///127.0.0.1", append(client, grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return connect() }))...)
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				asked := time.Now()
				if _, err := warptunev1.NewSweepServiceClient(honest).List(t.Context(), &warptunev1.ListRequest{}); err != nil || time.Since(asked) > time.Second {
					t.Errorf("encrypted %v: whoever asks meanwhile waits %v (%v)", encrypted, time.Since(asked), err)
				}
				time.Sleep(400 * time.Millisecond)
			}
			all.Wait()
			if longest > 11*time.Second {
				t.Errorf("encrypted %v: some were there for %v, want 10 s", encrypted, longest)
			}
			counted := l.(*countingListener)
			counted.mu.Lock()
			if counted.open != 1 {
				t.Errorf("encrypted %v: %d connections are counted, want the one of whoever asks", encrypted, counted.open)
			}
			counted.mu.Unlock()
			_ = honest.Close()
			server.Stop()
			<-served
		})
	}
}
