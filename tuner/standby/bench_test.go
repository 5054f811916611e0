package standby

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// BenchmarkCommit is what a commit of a thousand results costs: of a store alone, and
// of a primary whose standby is on the same disk and the same processors.
func BenchmarkCommit(b *testing.B) {
	for _, followed := range []bool{false, true} {
		b.Run(fmt.Sprintf("standby=%v", followed), func(b *testing.B) { benchmarkCommit(b, followed) })
	}
}

func benchmarkCommit(b *testing.B, followed bool) {
	const size = 1000
	options := store.OpenOptions{AnyFileSystem: true}
	st, err := store.Open(filepath.Join(b.TempDir(), served), options)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	var used store.Store = st
	if followed {
		p, end := pairOf(b, st, options)
		defer end()
		used = p
	}
	spec := tunertest.Bundle{Size: 1 << 40}.Spec("kernel")
	sweep := tuner.Sweep{Num: 1, ID: spec.ID(""), Spec: spec, State: tuner.Running}
	if err := used.Commit(&tuner.Changes{Sweeps: []tuner.Sweep{sweep}}); err != nil {
		b.Fatal(err)
	}
	seq, token := int64(0), uint64(0)
	for b.Loop() {
		c := &tuner.Changes{}
		for range size {
			token++
			r := tuner.Result{Seq: seq, Index: seq, Attempts: 1, Worker: "node-7", Outcome: tunertest.Oracle(seq)}
			c.Results = append(c.Results, tuner.ResultChange{Sweep: 1, Result: r, Answer: tuner.AnswerKey("scope", tunertest.Space(1<<40).At(seq).Values)})
			c.Leases = append(c.Leases, tuner.LeaseRecord{Sweep: 1, Seq: seq + size, Index: seq + size, Token: token, Attempt: 1, Holder: "node-7/1", Held: true})
			seq++
		}
		c.Token = token
		if err := used.Commit(c); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "results/s")
}

// pairOf returns a primary over TCP with a standby that is in sync.
func pairOf(b *testing.B, st *store.Bolt, options store.OpenOptions) (*Primary, func()) {
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "arbiter"), 0o755); err != nil {
		b.Fatal(err)
	}
	a := Directory(filepath.Join(dir, "arbiter"))
	k, err := Hold(b.Context(), a, Record{}, "a", Usual, nil)
	if err != nil {
		b.Fatal(err)
	}
	p := NewPrimary(st, k, Usual, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer()
	Register(server, p)
	go func() { _ = server.Serve(l) }()
	conn, err := rpc.Dial(l.Addr().String(), nil, rpc.ClientOptions(nil)...)
	if err != nil {
		b.Fatal(err)
	}
	own, err := MakeNode(filepath.Join(dir, "b"))
	if err != nil {
		b.Fatal(err)
	}
	f := NewFollower(own, conn, a, Usual, options, nil)
	ctx, stop := context.WithCancel(context.Background())
	go func() { _ = k.Run(ctx) }()
	followed := make(chan struct{})
	go func() { defer close(followed); f.follow(ctx) }()
	for p.Standing().InSync == "" {
		time.Sleep(time.Millisecond)
	}
	return p, func() {
		if s := p.Standing(); s.InSync == "" {
			b.Error("the standby fell behind")
		}
		stop()
		<-followed
		server.Stop()
		_ = conn.Close()
	}
}
