package rpc

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// One host's connections past its share are told why they are refused, past
// twice as many they are closed, and a place becomes free when one closes.
func TestConnectionsAreLimited(t *testing.T) {
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, options := ConnectionLimits{Total: 10, PerHost: 2}.Limit(plain, nil)
	server := NewServer(c, nil, options...)
	go func() { _ = server.Serve(l) }()
	defer server.Stop()
	list := func(conn *grpc.ClientConn) error {
		_, err := warptunev1.NewSweepServiceClient(conn).List(t.Context(), &warptunev1.ListRequest{})
		return err
	}
	var conns []*grpc.ClientConn
	for i := range 4 {
		conns = append(conns, dial(t, plain.Addr().String(), ClientOptions(nil)...))
		err := FromStatus(list(conns[i]))
		if i < 2 && err != nil {
			t.Errorf("connection %d: %v", i+1, err)
		}
		if i >= 2 && (tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), "127.0.0.1 has more than 2 connections")) {
			t.Errorf("connection %d is answered %v", i+1, err)
		}
	}
	stream, err := warptunev1.NewSweepServiceClient(conns[3]).Watch(t.Context(), &warptunev1.WatchRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	if tuner.KindOf(FromStatus(err)) != tuner.Limit {
		t.Errorf("a stream over the last is answered %v", err)
	}
	fifth, err := net.Dial("tcp", plain.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer fifth.Close()
	if n, err := fifth.Read(make([]byte, 1)); err == nil {
		t.Errorf("the fifth is sent %d bytes", n)
	}
	for _, conn := range conns[1:] {
		_ = conn.Close()
	}
	// The server learns of it when it reads; until then new ones are one too many.
	for ctx := t.Context(); ctx.Err() == nil; {
		conn := dial(t, plain.Addr().String(), ClientOptions(nil)...)
		err := list(conn)
		_ = conn.Close()
		if err == nil {
			break
		}
	}
}

// All hosts together have no more connections than the total.
func TestConnectionsInAll(t *testing.T) {
	l := &countingListener{limits: ConnectionLimits{Total: 3, PerHost: 3}, log: hclog.NewNullLogger(), hosts: map[string]int{}}
	at := func(host string) net.Conn {
		return l.count(addressed{addr: &net.TCPAddr{IP: net.ParseIP(host), Port: 1}}, time.Unix(0, 0))
	}
	open := []net.Conn{at("10.0.0.1"), at("10.0.0.2"), at("::1")}
	for i, conn := range open {
		if conn == nil {
			t.Fatalf("connection %d is refused", i+1)
		}
	}
	if at("10.0.0.4") != nil {
		t.Error("a fourth connection of three is taken")
	}
	for range 2 { // closing twice frees one place
		_ = open[0].Close()
	}
	if at("10.0.0.4") == nil || at("10.0.0.5") != nil {
		t.Error("one closed connection does not make room for just one")
	}
	if len(l.hosts) != 3 {
		t.Errorf("the hosts counted are %v", l.hosts)
	}
}

// addressed is a connection that only has an address.
type addressed struct {
	net.Conn
	addr net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.addr }
func (a addressed) Close() error         { return nil }

// What is larger than a message may be is refused by name, and before it is
// decoded.
func TestMessagesAreLimited(t *testing.T) {
	address, _ := serve(t)
	conn := dial(t, address, ClientOptions(nil)...)
	sweeps, workers := warptunev1.NewSweepServiceClient(conn), warptunev1.NewWorkerServiceClient(conn)
	worker := func(change func(*warptunev1.SynchronizeRequest)) error {
		in := &warptunev1.SynchronizeRequest{Worker: &warptunev1.WorkerIdentity{Id: "w", Slots: 1, Engine: "e"}}
		change(in)
		_, err := workers.Synchronize(t.Context(), in)
		return err
	}
	labels := map[string]string{}
	for i := range maxArchs + 1 {
		labels[strings.Repeat("x", i+1)] = ""
	}
	for what, err := range map[string]error{
		"a message": func() error {
			_, err := sweeps.Get(t.Context(), &warptunev1.GetRequest{Id: strings.Repeat("x", MaxMessage+1)})
			return err
		}(),
		"reports":      worker(func(m *warptunev1.SynchronizeRequest) { m.Reports = make([]*warptunev1.Report, maxReports+1) }),
		"held leases":  worker(func(m *warptunev1.SynchronizeRequest) { m.Held = make([]*warptunev1.Lease, maxHeld+1) }),
		"known sweeps": worker(func(m *warptunev1.SynchronizeRequest) { m.KnownSweeps = make([]uint64, maxKnown+1) }),
		"labels":       worker(func(m *warptunev1.SynchronizeRequest) { m.Worker.Labels = labels }),
		"digests": func() error {
			_, err := workers.Lookup(t.Context(), &warptunev1.LookupRequest{Digests: make([]string, maxLookup+1)})
			return err
		}(),
		"a bundle": putTooMuch(t.Context(), sweeps),
	} {
		if kind := tuner.KindOf(FromStatus(err)); kind != tuner.Limit {
			t.Errorf("%s: %v, of kind %v", what, err, kind)
		}
	}
}

// putTooMuch sends a bundle until the server has enough of it.
func putTooMuch(ctx context.Context, client warptunev1.SweepServiceClient) error {
	stream, err := client.PutBundle(ctx)
	if err != nil {
		return err
	}
	chunk := &warptunev1.PutBundleRequest{Digest: "d", Chunk: make([]byte, 1<<20)}
	for range maxBundle>>20 + 1 {
		if stream.Send(chunk) != nil {
			break
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}
