package main

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/warptune/warptune/cmd/internal/cluster"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
)

// policy says which roles may call each method that the program serves: r, s, w
// a and t are reader, submitter, worker, admin and standby, - who presents no token. It is
// written out here, so that a change of it shows.
var policy = map[string]string{
	"/warptune.v1.SweepService/Get":        "rsa",
	"/warptune.v1.SweepService/List":       "rsa",
	"/warptune.v1.SweepService/Watch":      "rsa",
	"/warptune.v1.SweepService/Best":       "rsa",
	"/warptune.v1.SweepService/Top":        "rsa",
	"/warptune.v1.SweepService/Results":    "rsa",
	"/warptune.v1.SweepService/Workers":    "rsa",
	"/warptune.v1.SweepService/Descriptor": "rsa",
	"/warptune.v1.SweepService/PutBundle":  "sa",
	"/warptune.v1.SweepService/Submit":     "sa",
	"/warptune.v1.SweepService/Pause":      "sa",
	"/warptune.v1.SweepService/Resume":     "sa",
	"/warptune.v1.SweepService/Retry":      "sa",
	"/warptune.v1.SweepService/Cancel":     "sa",
	"/warptune.v1.SweepService/Delete":     "sa",
	"/warptune.v1.SweepService/Audit":      "sa",

	"/warptune.v1.WorkerService/Synchronize": "wa",
	"/warptune.v1.WorkerService/GetBundle":   "wa",
	"/warptune.v1.WorkerService/Lookup":      "wa",

	"/warptune.v1.StandbyService/Follow":   "at",
	"/warptune.v1.StandbyService/Standing": "rsat",

	"/externalscaler.ExternalScaler/IsActive":       "rsa",
	"/externalscaler.ExternalScaler/StreamIsActive": "rsa",
	"/externalscaler.ExternalScaler/GetMetricSpec":  "rsa",
	"/externalscaler.ExternalScaler/GetMetrics":     "rsa",

	"/grpc.health.v1.Health/Check": "-rswat",
	"/grpc.health.v1.Health/Watch": "-rswat",
	"/grpc.health.v1.Health/List":  "-rswat",

	"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":      "rsa",
	"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "rsa",

	// What nobody serves is denied like what nobody may.
	"/warptune.v1.SweepService/Forge": "",
	"/unknown.Service/Method":         "",
}

// tokens are one of each role; a token is its role's letter, twenty times.
const tokens = "reader rita rrrrrrrrrrrrrrrrrrrr\nsubmitter sam ssssssssssssssssssss\nworker wendy wwwwwwwwwwwwwwwwwwww\nadmin ada aaaaaaaaaaaaaaaaaaaa\nstandby tom tttttttttttttttttttt\n"

// Every method of the server as it is run, by every role and by nobody.
func TestEveryMethodByEveryRole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"--data", t.TempDir(), "--token-file", file}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	secured, err := o.security.Server(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := coordinator.New(store.NewMemory(), coordinator.Options{Planner: cluster.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, counted := o.newServer(l, c, secured.Options, nil)
	(&leading{}).register(server)
	go func() { _ = server.Serve(counted) }()
	t.Cleanup(func() {
		server.Stop()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	streams := map[string]bool{}
	for service, info := range server.GetServiceInfo() {
		for _, m := range info.Methods {
			name := "/" + service + "/" + m.Name
			streams[name] = m.IsClientStream || m.IsServerStream
			if _, listed := policy[name]; !listed {
				t.Errorf("%s is served, and the policy does not say to whom", name)
			}
		}
	}
	for _, caller := range "-rswat" {
		options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
		if caller != '-' {
			options = append(options, grpc.WithPerRPCCredentials(rpc.Bearer(strings.Repeat(string(caller), 20), true)))
		}
		conn, err := grpc.NewClient(l.Addr().String(), options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		for name, may := range policy {
			code := status.Code(callEmpty(t, conn, name, streams[name]))
			denied := code == codes.PermissionDenied || caller == '-' && code == codes.Unauthenticated
			if _, served := streams[name]; !served {
				denied = denied || code == codes.Unimplemented
			}
			if want := !strings.ContainsRune(may, caller); denied != want {
				t.Errorf("%s by %c: %v, denied %v, want %v", name, caller, code, denied, want)
			}
		}
	}
}

// callEmpty calls a method with an empty message and returns its first answer's
// error, nil if it answers.
func callEmpty(t *testing.T, conn *grpc.ClientConn, method string, stream bool) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if !stream {
		return conn.Invoke(ctx, method, &emptypb.Empty{}, &emptypb.Empty{})
	}
	s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, method)
	if err != nil {
		return err
	}
	_ = s.SendMsg(&emptypb.Empty{})
	_ = s.CloseSend()
	return s.RecvMsg(&emptypb.Empty{})
}
