package rpc

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"google.golang.org/grpc"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

func TestAddressForms(t *testing.T) {
	for _, ok := range []string{"head:7070", "[::1]:7070", "a:1, b:2,10.0.0.1:3", "@/shared/coordinator", ":7070"} {
		if err := CheckAddress(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "head", "head:", "a:1,", "a:1,b", "@", "a:1 b:2", "a:1\nb:2", "::1:7070"} {
		if err := CheckAddress(bad); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What a file holds instead of an address may be a token, named by mistake: it is in
// no error, and so in no log.
func TestAddressFileOfSomethingElse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	const secret = "reader s3cr3t-t0ken"
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := (&addressBook{address: "@" + file}).read()
	if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "HOST:PORT") {
		t.Errorf("%v", err)
	}
	for _, part := range strings.Fields(secret) {
		if err != nil && strings.Contains(strings.ReplaceAll(err.Error(), file, ""), part) {
			t.Errorf("the error shows what the file holds: %v", err)
		}
	}
}

// standing is a coordinator that serves at an address until it is stopped.
type standing struct {
	address string
	stop    func()
}

func stand(t *testing.T, st store.Store, address string) standing {
	t.Helper()
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(c, nil)
	go func() { _ = server.Serve(l) }()
	return standing{l.Addr().String(), func() {
		server.Stop()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}}
}

// reaches calls the coordinator, which must answer within half a minute: twice as long as it
// takes, for machines with much else to do.
func reaches(t *testing.T, conn *grpc.ClientConn, where string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for { // a call under way fails with its connection
		_, err := warptunev1.NewSweepServiceClient(conn).List(ctx, &warptunev1.ListRequest{}, grpc.WaitForReady(true))
		if err == nil {
			return
		}
		if ctx.Err() != nil || !Unreachable(err) {
			t.Fatalf("%s: %v", where, err)
		}
	}
}

func dialed(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := Dial(address, nil, ClientOptions(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client finds the coordinator at whichever of several addresses it is.
func TestClientTriesAllAddresses(t *testing.T) {
	st := store.NewMemory()
	first := stand(t, st, "127.0.0.1:0")
	second := stand(t, st, "127.0.0.1:0")
	second.stop() // its address is free now
	conn := dialed(t, "127.0.0.1:1,"+second.address+","+first.address)
	reaches(t, conn, "the first place")
	first.stop()
	second = stand(t, st, second.address)
	reaches(t, conn, "the second place")
	second.stop()
	first = stand(t, st, first.address)
	defer first.stop()
	reaches(t, conn, "the first place again")
}

// A client follows a coordinator whose address stands in a file, also when the
// file is missing or senseless for a while.
func TestClientFollowsAddressFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "coordinator")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	conn := dialed(t, "@"+file) // which is not there yet
	st := store.NewMemory()
	for i, before := range []string{"", "nonsense\n", "127.0.0.1:1\n"} {
		if before != "" {
			write(before)
		}
		c := stand(t, st, "127.0.0.1:0")
		write(c.address + "\n")
		reaches(t, conn, before)
		if i < 2 {
			c.stop()
		} else {
			defer c.stop()
		}
	}
	// While it is reached where it was, another file is no reason to leave.
	write("nonsense")
	reaches(t, conn, "where it was")
}

// A client asks for the address of a name whenever it connects.
func TestClientFollowsName(t *testing.T) {
	var at atomic.Value // the address of the name, [4]byte
	servers, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer servers.Close()
	go nameServer(servers, &at)
	old := net.DefaultResolver
	defer func() { net.DefaultResolver = old }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", servers.LocalAddr().String())
	}}

	st := store.NewMemory()
	at.Store([4]byte{127, 0, 0, 2})
	here := stand(t, st, "127.0.0.2:0")
	_, port, _ := net.SplitHostPort(here.address)
	conn := dialed(t, "coordinator.example:"+port)
	reaches(t, conn, "where the name was")
	here.stop()
	at.Store([4]byte{127, 0, 0, 3})
	there := stand(t, st, "127.0.0.3:"+port)
	defer there.stop()
	reaches(t, conn, "where the name is")
}

// nameServer answers every question for an IPv4 address with the one in at.
func nameServer(c net.PacketConn, at *atomic.Value) {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		m.Header.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}, Body: &dnsmessage.AResource{A: at.Load().([4]byte)},
			}}
		}
		if out, err := m.Pack(); err == nil {
			_, _ = c.WriteTo(out, from)
		}
	}
}

// What must not be connected to is not, wherever it stands.
func TestForbiddenAddresses(t *testing.T) {
	refuse := errors.New("not there")
	allow := func(hostPort string) error {
		if strings.HasPrefix(hostPort, "far") {
			return refuse
		}
		return nil
	}
	if _, err := Dial("near:1,far:2", allow, ClientOptions(nil)...); !errors.Is(err, refuse) {
		t.Errorf("a list: %v", err)
	}
	file := filepath.Join(t.TempDir(), "coordinator")
	if err := os.WriteFile(file, []byte("far:2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conn, err := Dial("@"+file, allow, ClientOptions(nil)...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = warptunev1.NewSweepServiceClient(conn).List(t.Context(), &warptunev1.ListRequest{})
	if err == nil || !strings.Contains(err.Error(), refuse.Error()) {
		t.Errorf("a file: %v", err)
	}
}
