package pagesource

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/page"
	"github.com/warptune/warptune/tuner/rpc"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// BenchmarkFirstTable is what the page waits for when somebody opens a sweep of 100,000 configurations: the overview and
// the first part of the table, and until all is there.
func BenchmarkFirstTable(b *testing.B) {
	const size = 100_000
	st, err := store.Open(filepath.Join(b.TempDir(), "x.db"), store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		b.Fatal(err)
	}
	c, err := coordinator.New(st, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	memory := rpc.NewMemory()
	server := rpc.NewServer(c, nil)
	go func() { _ = server.Serve(memory.Listener()) }()
	conn, err := memory.Dial()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = conn.Close()
		server.Stop()
		stop()
		<-ended
		_ = st.Close()
	}()
	id := fill(b, c, size)
	for b.Loop() {
		h := page.Handler(New("bench", Over(conn)), page.Options{})
		began := time.Now()
		get := func(address string) string {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/"+address, nil))
			if w.Code != 200 {
				b.Fatalf("%s: status %d: %.300s", address, w.Code, w.Body)
			}
			return w.Body.String()
		}
		get("data/sweeps")
		text := get("data/sweeps/" + id + "/table")
		b.ReportMetric(time.Since(began).Seconds(), "s-first")
		var d page.Table
		for rows := 0; !d.Complete; rows = d.Rows {
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				b.Fatal(err)
			}
			text = get(fmt.Sprintf("data/sweeps/%s/table?from=%d&epoch=%s", id, rows, d.Epoch))
		}
		b.ReportMetric(time.Since(began).Seconds(), "s-all")
		get("data/sweeps/" + id + "/ranking")
		b.ReportMetric(time.Since(began).Seconds(), "s-ranked")
	}
}

// fill makes a sweep of results with as many counters as the simulator gives.
func fill(b *testing.B, c *coordinator.Coordinator, size int64) string {
	bundle := tunertest.Bundle{Size: size}
	content, digest := bundle.Content()
	if err := c.PutBundle(b.Context(), digest, content); err != nil {
		b.Fatal(err)
	}
	s, err := c.Submit(b.Context(), bundle.Spec("large"), "")
	if err != nil {
		b.Fatal(err)
	}
	in := &tuner.Sync{Worker: tunertest.Worker("w", 1, 1024), Want: 1024}
	for {
		reply, err := c.Synchronize(b.Context(), in, 0)
		if err != nil {
			b.Fatal(err)
		}
		if in.Reports = nil; len(reply.Grants) == 0 {
			return s.Sweep.ID
		}
		for _, g := range reply.Grants {
			o := tunertest.Oracle(g.Index)
			if o.Validity == tuner.Correct {
				o.Metrics = map[string]float64{}
				for k := range 60 {
					o.Metrics[fmt.Sprintf("lts__t_sectors_op_read_lookup_hit_%02d.sum", k)] = float64(g.Index*int64(k)) / 7
				}
			}
			in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
		}
	}
}
