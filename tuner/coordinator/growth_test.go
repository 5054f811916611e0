package coordinator_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/warptune/warptune/tuner"
	"github.com/warptune/warptune/tuner/coordinator"
	"github.com/warptune/warptune/tuner/store"
	"github.com/warptune/warptune/tuner/tunertest"
)

// counted is a store that counts commits.
type counted struct {
	store.Store
	commits int
}

func (c *counted) Commit(changes *tuner.Changes) error {
	c.commits++
	return c.Store.Commit(changes)
}

// The file holds what is stored and little else: heartbeats are not written, and sweeps
// that are deleted leave room that later ones use. (It does not shrink; a backup is of its
// size, and a copy of the rows is an export.)
func TestFileGrowsWithWhatIsStored(t *testing.T) {
	results := int64(tunertest.Times(5_000, 300_000))
	path := filepath.Join(t.TempDir(), "sweeps.db")
	st, err := store.Open(path, store.OpenOptions{AnyFileSystem: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Store: st}
	k, err := coordinator.New(c, coordinator.Options{Planner: tunertest.Planner{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	size := func() (file, used int64) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		u, err := st.Usage()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size(), u.Used
	}
	sync := func(in *tuner.Sync) *tuner.SyncReply {
		t.Helper()
		reply, err := k.Synchronize(ctx, in, 0)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	var last string
	var first int64
	for round := range 4 {
		b := tunertest.Bundle{Size: results, Salt: uint32(round)}
		put(t, k, b)
		id := submit(t, k, b.Spec("kernel")).Sweep.ID
		if last != "" {
			if err := k.Delete(ctx, last); err != nil {
				t.Fatal(err)
			}
		}
		last = id

		// Ten heartbeats a result, of a worker that holds something: nothing is written.
		idle := tunertest.Worker("idle", 1, 8)
		var held []tuner.Held
		for _, g := range sync(&tuner.Sync{Worker: idle, Want: 8}).Grants {
			held = append(held, g.Held)
		}
		before, _ := size()
		commits := c.commits
		for range 10 * min(results, 50_000) {
			sync(&tuner.Sync{Worker: idle, Held: held})
		}
		after, _ := size()
		if removed := round > 0; after != before && !removed || c.commits > commits {
			t.Errorf("heartbeats made %d commits, and %d bytes of %d", c.commits-commits, after, before)
		}
		in := &tuner.Sync{Worker: idle}
		for _, h := range held { // it evaluates that, too
			o := b.Outcome("cycle", h.Key.Seq)
			in.Reports = append(in.Reports, tuner.Report{Held: h, Outcome: &o})
		}
		sync(in)

		for _, w := range []tuner.Worker{tunertest.Worker("many", 1, 256), idle} { // who confirms the best
			in := &tuner.Sync{Worker: w, Want: 256}
			for {
				reply := sync(in)
				if in.Reports = in.Reports[:0]; len(reply.Grants) == 0 {
					break
				}
				for _, g := range reply.Grants {
					o := b.Outcome("cycle", g.Index)
					in.Reports = append(in.Reports, tuner.Report{Held: g.Held, Outcome: &o})
				}
			}
		}
		waitUntil(t, func() bool { return len(k.Sweeps(ctx)) == 1 }) // the one before is removed
		var file, used int64
		if file, used = size(); round == 0 {
			first = used
		}
		// The youngest 8 MiB of the index at most are not looked through, and bbolt makes
		// the file greater in steps of up to 16 MiB (bolt.AllocSize).
		for until := time.Now().Add(time.Minute); used > first*3/2+8<<20 || file > first*3/2+24<<20; file, used = size() { // what it has left goes, too
			if time.Now().After(until) {
				t.Fatalf("round %d: the file has %d bytes, of which %d are used; after the first %d were", round, file, used, first)
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("round %d: %d bytes of file, %d used, %d a result", round, file, used, used/results)
	}
}
