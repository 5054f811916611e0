package rpc_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	warptunev1 "github.com/warptune/warptune/api/warptune/v1"
	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// A client that opens an export and stops reading holds up nobody, and is told
// why its stream has ended. One that reads slowly gets everything. One that
// begins to send a bundle and stops is ended too.
func TestStalledStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.NewMemory()
		c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- c.Run(ctx) }()
		const rows = 6000
		bundle := tunertest.Bundle{Size: rows}
		content, digest := bundle.Content()
		if err := c.PutBundle(ctx, digest, content); err != nil {
			t.Fatal(err)
		}
		out, err := c.Submit(ctx, bundle.Spec("kernel"), "")
		if err != nil {
			t.Fatal(err)
		}
		var changes tuner.Changes
		for i := range int64(rows) {
			changes.Results = append(changes.Results, tuner.ResultChange{Sweep: out.Sweep.Num, Result: tuner.Result{Seq: i, Index: i, Outcome: tunertest.Oracle(i)}})
		}
		if err := st.Commit(&changes); err != nil {
			t.Fatal(err)
		}
		memory, server := rpc.NewMemory(), rpc.NewServer(c, nil)
		go func() { ended <- server.Serve(memory.Listener()) }()
		conn, err := memory.Dial()
		if err != nil {
			t.Fatal(err)
		}
		client := warptunev1.NewSweepServiceClient(conn)

		read := func(pause time.Duration, most int) (n int, err error) {
			stream, err := client.Results(ctx, &warptunev1.ResultsRequest{Id: out.Sweep.ID})
			for i := 0; err == nil; i++ {
				var page *warptunev1.ResultsResponse
				if page, err = stream.Recv(); err == nil {
					n += len(page.GetResults())
					if i < most {
						time.Sleep(pause)
					}
				}
			}
			return n, err
		}
		if n, err := read(10*time.Second, 1000); n != rows || !errors.Is(err, io.EOF) {
			t.Errorf("a slow reader gets %d rows (%v)", n, err)
		}
		n, err := read(3*time.Minute, 1)
		err = rpc.FromStatus(err)
		if tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), "the client takes nothing for 1m0s") || n == 0 || n == rows {
			t.Errorf("a client that stopped reading gets %d rows and %v", n, err)
		}

		put, err := client.PutBundle(ctx)
		if err == nil {
			err = put.Send(&warptunev1.PutBundleRequest{Digest: strings.Repeat("0", 64), Chunk: []byte("begun")})
		}
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		_, err = put.CloseAndRecv()
		if err = rpc.FromStatus(err); tuner.KindOf(err) != tuner.Limit || !strings.Contains(err.Error(), "the client sends nothing for 1m0s") {
			t.Errorf("a client that stopped sending gets %v", err)
		}
		conn.Close()
		server.Stop()
		cancel()
		<-ended
		<-ended
	})
}
